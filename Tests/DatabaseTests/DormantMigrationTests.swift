import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct DormantMigrationTests {
    let scratch: Scratch
    let shelf = Migration(name: "shelves-1", sql: "CREATE TABLE shelves (id INTEGER PRIMARY KEY) STRICT;")
    let boards = Migration(name: "shelves-2", sql: "ALTER TABLE shelves ADD COLUMN boards INTEGER;")

    init() throws {
        scratch = try Scratch()
    }

    private func columns(of table: String, in database: Database) throws -> [String] {
        try database.readBlocking { try $0.columns(of: table) }
    }

    @Test func dormantMigrationMakesNoTable() throws {
        let database = try scratch.database([.notes, shelf.dormant])
        #expect(try columns(of: "shelves", in: database) == [])
        #expect(try database.readBlocking { try $0.pending([.notes, shelf.dormant]).isEmpty })
    }

    @Test func appliedMigrationMayBecomeDormant() throws {
        try scratch.database([.notes, shelf]).close()
        let database = try scratch.database([.notes, shelf.dormant, boards.dormant])
        #expect(try columns(of: "shelves", in: database) == ["id"])
        database.close()
        let again = try scratch.database([.notes, shelf, boards])
        #expect(try columns(of: "shelves", in: again) == ["id", "boards"])
    }

    @Test func unknownMigrationIsStillRefused() throws {
        try scratch.database([.notes, shelf]).close()
        #expect(throws: DatabaseError.newerSchema(migration: "shelves-1")) {
            try scratch.database([.notes, boards.dormant])
        }
    }
}
