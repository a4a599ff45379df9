import DatabaseTesting
import TestSupport
import Testing

@testable import Database

/// Migrations of a schema that programs of an earlier version use meanwhile.
@Suite(.timeLimited, .onPostgres) struct ServerMigrationTests {
    private let scratch: Scratch
    private let baseline = """
        \(DatabaseEngine.translated(Migration.notes.sql));
        INSERT INTO migrations (name, number) VALUES ('notes-1', 1);
        """
    private let added = Migration(
        name: "notes-2", sql: "", postgres: "ALTER TABLE notes ADD COLUMN color TEXT COLLATE \"C\" DEFAULT 'gray'",
        compatibility: .expanding)
    private let removed = Migration(
        name: "notes-3", sql: "", postgres: "ALTER TABLE notes DROP COLUMN parent",
        compatibility: .contracting(after: "notes-2"))
    private let indexed = Migration(
        name: "notes-4", sql: "CREATE INDEX notes_by_parent ON notes (parent)", index: "notes_by_parent")

    init() throws {
        scratch = try Scratch()
    }

    private func database(_ migrations: [Migration], on server: PostgresServer? = nil) throws -> Database {
        try Database(server: server ?? scratch.server, baseline: baseline, migrations: migrations)
    }

    private func add(_ body: String, to database: Database) throws {
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
    }

    /// The number of sessions that wait for a lock of a table, or for the end of a transaction.
    private func waiting() throws -> Int {
        let condition = "NOT granted AND locktype IN ('relation', 'virtualxid')"
        return try scratch.connection().first("SELECT count(*) AS count FROM pg_locks WHERE \(condition)") {
            $0.int("count")
        } ?? 0
    }

    @Test func programsOfBothVersionsUseAnExpandedSchema() throws {
        let old = try database([.notes])
        defer { old.close() }
        try add("before", to: old)
        #expect(try scratch.server.migrate([.notes, added]) == ["notes-2"])
        #expect(try scratch.server.migrate([.notes, added]) == [])
        try add("after", to: old)
        #expect(try old.notes() == ["before", "after"])
        let restarted = try database([.notes])
        defer { restarted.close() }
        let new = try database([.notes, added])
        defer { new.close() }
        try add("new", to: new)
        #expect(try restarted.notes() == ["before", "after", "new"])
        #expect(try new.readBlocking { try $0.query("SELECT color FROM notes") { $0.text("color") } }.count == 3)
    }

    @Test func contractedSchemaIsForProgramsThatHaveTheExpansion() throws {
        try database([.notes, added]).close()
        #expect(try scratch.server.migrate([.notes, added, removed]) == ["notes-3"])
        try database([.notes, added]).close()
        #expect(throws: DatabaseError.newerSchema(migration: "notes-3")) { try database([.notes]) }
        #expect(throws: DatabaseError.newerSchema(migration: "notes-3")) { try scratch.server.migrate([.notes]) }
    }

    @Test func newSchemaRecordsTheProgramsForWhichItIs() throws {
        let baseline = baseline + "INSERT INTO migrations (name, number) VALUES ('notes-2', 2), ('notes-3', 3);"
        try Database(server: scratch.server, baseline: baseline, migrations: [.notes, added, removed]).close()
        try database([.notes, added]).close()
        #expect(throws: DatabaseError.newerSchema(migration: "notes-3")) { try database([.notes]) }
    }

    @Test func migrationForItsOwnVersionWaitsForTheEndOfTheGateway() throws {
        var server = scratch.server
        server.holder = LeaseHolder(id: "one", directory: "a", description: "process one")
        let old = try database([.notes], on: server)
        #expect(
            throws: DatabaseError.unsuitable(
                "a gateway uses the database (process one), and the migration notes-3 is not for its version: stop it first"
            )
        ) { try scratch.server.migrate([.notes, added, removed]) }
        #expect(try old.readBlocking { try $0.columns(of: "notes") } == ["id", "body", "parent"])
        old.close()
        #expect(try scratch.server.migrate([.notes, added, removed]) == ["notes-2", "notes-3"])
    }

    @Test func contractionWaitsForReplicasThatLackTheExpansion() throws {
        func replica(_ name: String, _ migrations: [Migration]) throws -> Database {
            var server = scratch.server
            server.holder = LeaseHolder(id: name, directory: "", description: "process \(name)", isReplica: true)
            return try database(migrations, on: server)
        }
        let old = try replica("old", [.notes])
        let current = try replica("current", [.notes, added])
        defer { current.close() }
        #expect(
            throws: DatabaseError.unsuitable(
                "a gateway uses the database (process old), and the migration notes-3 is not for its version: stop it first"
            )
        ) { try replica("new", [.notes, added, removed]) }
        try add("old", to: old)
        old.close()
        try replica("new", [.notes, added, removed]).close()
        try add("current", to: current)
    }

    @Test func eachMigrationIsPermittedInItsTransaction() throws {
        try database([.notes]).close()
        var requested: [[String]] = []
        #expect(throws: DatabaseError.overloaded) {
            try scratch.connection().apply([.notes, added, removed]) { migrations in
                requested.append(migrations.map(\.name))
                if requested.last == ["notes-3"] { throw DatabaseError.overloaded }
            }
        }
        #expect(requested == [["notes-2", "notes-3"], ["notes-2"], ["notes-3"]])
        #expect(try scratch.reader().columns(of: "notes") == ["id", "body", "parent", "color"])
    }

    @Test func schemaWithoutTablesIsLeftToAGateway() throws {
        let failure = #expect(throws: DatabaseError.self) { try scratch.server.migrate([.notes]) }
        #expect("\(try #require(failure))".hasSuffix("has no tables: a gateway creates them when it starts"))
    }

    @Test func writesContinueWhileAnIndexIsBuilt() throws {
        let database = try database([.notes])
        defer { database.close() }
        try add("before", to: database)
        let reader = try scratch.reader()
        try reader.session.begin()
        #expect(try reader.hasRow("SELECT 1 FROM notes"))
        let server = scratch.server
        let migration = TestThread { [indexed] in
            #expect(throws: Never.self) { try server.migrate([.notes, indexed]) }
        }
        // The end of older snapshots is its last wait.
        try waitUntil { (try? waiting()) ?? 0 > 0 }
        try add("meanwhile", to: database)
        try reader.session.commit()
        try migration.join()
        #expect(try database.notes() == ["before", "meanwhile"])
        #expect(try index() == true)
        try self.database([.notes]).close()
    }

    @Test func indexOfAnAttemptThatFailedIsBuiltAgain() throws {
        let database = try database([.notes])
        defer { database.close() }
        _ = try database.writeBlocking {
            try $0.execute("INSERT INTO notes (id, body, parent) VALUES (1, 'a', 1), (2, 'b', 1)")
        }
        let unique = Migration(
            name: "notes-4", sql: "CREATE UNIQUE INDEX notes_by_parent ON notes (parent)", index: "notes_by_parent")
        #expect(throws: DatabaseError.self) { try scratch.server.migrate([.notes, unique]) }
        #expect(try index() == false)
        try database.writeBlocking { _ = try $0.execute("UPDATE notes SET parent = id") }
        #expect(try scratch.server.migrate([.notes, unique]) == ["notes-4"])
        #expect(try index() == true)
    }

    /// Whether the index can be used; `nil` = it does not exist.
    private func index() throws -> Bool? {
        try scratch.connection().first(
            "SELECT CAST(indisvalid AS INTEGER) AS valid FROM pg_index WHERE indexrelid = to_regclass('notes_by_parent')"
        ) { $0.bool("valid") }
    }

    @Test func migrationsOfTwoProgramsAreAppliedOnce() throws {
        try database([.notes]).close()
        let (server, all) = (scratch.server, [.notes, added, indexed])
        let threads = (0..<3).map { _ in
            TestThread { #expect(throws: Never.self) { try server.migrate(all) } }
        }
        for thread in threads { try thread.join() }
        let names = try scratch.connection().query("SELECT name FROM migrations ORDER BY number") { $0.text("name") }
        #expect(names == ["notes-1", "notes-2", "notes-4"])
    }

    @Test func writesContinueWhileAMigrationWaitsForATable() throws {
        let counts = Migration(name: "counts-1", sql: "", postgres: "CREATE TABLE counts (id BIGINT PRIMARY KEY)")
        let database = try database([.notes, counts])
        defer { database.close() }
        try add("before", to: database)
        let reader = try scratch.reader()
        try reader.session.begin()
        #expect(try reader.hasRow("SELECT 1 FROM notes"))
        var server = scratch.server
        server.tableLockTimeout = .milliseconds(20)
        let migration = TestThread { [server, added] in
            #expect(throws: Never.self) { try server.migrate([.notes, counts, added]) }
        }
        for number in 0..<20 {
            try waitUntil { (try? waiting()) ?? 0 > 0 }
            try database.writeBlocking { _ = try $0.execute("INSERT INTO counts (id) VALUES ($1)", number) }
        }
        try reader.session.commit()
        try migration.join()
        #expect(try database.readBlocking { try $0.columns(of: "notes") }.last == "color")
    }
}
