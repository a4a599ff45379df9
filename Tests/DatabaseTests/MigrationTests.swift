import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct MigrationTests {
    let scratch: Scratch
    let colour = Migration(name: "notes-2", sql: "ALTER TABLE notes ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';")

    init() throws {
        scratch = try Scratch()
    }

    @Test func aNewOneIsAppliedToAnOldFileOnce() throws {
        let old = try scratch.database([.notes])
        try old.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('old')") }
        old.close()
        for _ in 0..<2 {
            let new = try scratch.database([.notes, colour])
            #expect(try new.readBlocking { try $0.first("SELECT colour FROM notes") { $0.text(0) } } == "grey")
            new.close()
        }
    }

    @Test func moduleMayAddItsNextMigrationBesideOthers() throws {
        let shelf = Migration(name: "shelves-1", sql: "CREATE TABLE shelves (id INTEGER PRIMARY KEY) STRICT;")
        try scratch.database([.notes, shelf]).close()
        let new = try scratch.database([.notes, colour, shelf])
        let names = try new.readBlocking { try $0.query("SELECT name FROM migrations ORDER BY number") { $0.text(0) } }
        #expect(names == ["notes-1", "shelves-1", "notes-2"])
    }

    @Test func aNewerFileIsRefusedWithWhatToDo() throws {
        try scratch.database([.notes, colour]).close()
        let error = #expect(throws: DatabaseError.newerSchema(migration: "notes-2")) { try scratch.database([.notes]) }
        #expect(try #require(error).description.contains("start that version, or restore a backup"))
    }

    @Test func changesOfRowsArePartOfItsTransaction() throws {
        let old = try scratch.database([.notes])
        try old.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('old')") }
        old.close()
        let failing = Migration(name: "notes-2") { connection in
            try connection.execute("UPDATE notes SET body = 'half'")
            throw DatabaseError.misuse("the change fails")
        }
        #expect(throws: DatabaseError.misuse("the change fails")) { try scratch.database([.notes, failing]) }
        let kept = try scratch.database([.notes])
        #expect(try kept.readBlocking { try $0.first("SELECT body FROM notes") { $0.text(0) } } == "old")
        kept.close()
        for _ in 0..<2 {
            let change = Migration(name: "notes-2") { try $0.execute("UPDATE notes SET body = body || '!'") }
            let new = try scratch.database([.notes, change])
            #expect(try new.readBlocking { try $0.first("SELECT body FROM notes") { $0.text(0) } } == "old!")
            new.close()
        }
    }

    @Test func oneThatFailsLeavesNothing() throws {
        let broken = Migration(name: "notes-2", sql: "CREATE TABLE half (id INTEGER); CREATE TABLE notes (id INTEGER);")
        #expect(throws: DatabaseError.self) { try scratch.database([.notes, broken]) }
        let database = try scratch.database([.notes])
        #expect(try database.readBlocking { try $0.columns(of: "half") } == [])
    }
}
