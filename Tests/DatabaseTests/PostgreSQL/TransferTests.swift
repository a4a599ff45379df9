import Basics
import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// The shared state of the writers and the test.
private final class Progress: Sendable {
    let isOver = Lock(false)
    let writes = Lock(0)
}

/// Copies of a database from a file to a server, and from a server to a file.
@Suite(.timeLimited, .onPostgres) struct TransferTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private var file: String { scratch.path + "/file.db" }

    /// Tables with references, triggers, keys of several columns and of bytes, unique values and numbers that are not used again.
    private static let migrations = [
        migration(
            "robots-1",
            """
            CREATE TABLE robots (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, image BLOB) STRICT;
            CREATE TABLE counts (kind TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;
            CREATE TABLE arrivals (
                robot_id INTEGER NOT NULL REFERENCES robots (id), day INTEGER NOT NULL, digest BLOB NOT NULL, note TEXT,
                PRIMARY KEY (robot_id, day, digest)
            ) STRICT;
            CREATE TABLE settings (value INTEGER NOT NULL) STRICT;
            INSERT INTO counts (kind, number) VALUES ('robots', 0);
            """,
            sqlite: """
                CREATE TRIGGER robot_counted AFTER INSERT ON robots
                BEGIN UPDATE counts SET number = number + 1 WHERE kind = 'robots'; END;
                """,
            postgres: """
                CREATE FUNCTION robot_counted() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN UPDATE counts SET number = number + 1 WHERE kind = 'robots'; RETURN NULL; END $$;
                CREATE TRIGGER robot_counted AFTER INSERT ON robots FOR EACH ROW EXECUTE FUNCTION robot_counted();
                """),
        migration("dormant-1", "CREATE TABLE extras (name TEXT PRIMARY KEY) STRICT;").dormant,
    ]

    private static func migration(
        _ name: String, _ tables: String, sqlite: String = "", postgres: String = ""
    ) -> Migration {
        Migration(
            name: name, sql: tables + sqlite,
            postgres: DatabaseEngine.translated(tables.replacing(" AUTOINCREMENT", with: "")) + postgres)
    }

    /// The statements of a server's tables, with those of dormant migrations.
    private static let baseline =
        migrations.compactMap(\.postgres).joined() + "INSERT INTO migrations VALUES ('robots-1', 1), ('dormant-1', 2);"

    private func server() throws -> Database {
        try Database(server: scratch.server, baseline: Self.baseline, migrations: Self.migrations)
    }

    private static func fill(_ connection: Connection, robots: ClosedRange<Int>) throws {
        for number in robots {
            try connection.execute(
                "INSERT INTO robots (id, name, image) VALUES ($1, $2, $3)", number, "Röbot \(number)",
                number % 3 == 0 ? nil : [0, UInt8(truncatingIfNeeded: number), 255])
            try connection.execute(
                "INSERT INTO arrivals (robot_id, day, digest, note) VALUES ($1, $2, $3, $4)", number, -number,
                [UInt8(truncatingIfNeeded: number)], number % 2 == 0 ? nil : "")
        }
    }

    private func fileWithRobots(_ count: Int) throws {
        let database = try Database(path: file, migrations: Self.migrations.map(\.used))
        try database.writeBlocking { connection in
            try Self.fill(connection, robots: 1...count)
            try connection.execute("INSERT INTO settings (value) VALUES (7)")
            try connection.execute("INSERT INTO extras (name) VALUES ('a')")
            // Its number is not used again.
            try connection.execute("DELETE FROM arrivals WHERE robot_id = $1", count)
            try connection.execute("DELETE FROM robots WHERE id = $1", count)
        }
        database.close()
    }

    /// - Returns: whether rows were copied.
    private func copyToServer() throws -> Bool {
        try Database.copy(
            file: file, to: scratch.server, baseline: Self.baseline, migrations: Self.migrations.map(\.used)
        ).isNew
    }

    @Test func aFileIsCopiedToAServer() async throws {
        try fileWithRobots(2500)
        #expect(try copyToServer())
        let database = try server()
        defer { database.close() }
        let numbers = try database.readBlocking { connection in
            try [
                "SELECT count(*) AS n FROM robots", "SELECT number AS n FROM counts", "SELECT value AS n FROM settings",
                "SELECT count(*) AS n FROM robots WHERE image IS NULL",
                "SELECT count(*) AS n FROM arrivals WHERE note = ''",
                "SELECT count(*) AS n FROM extras",
            ].map { try connection.first($0) { $0.int("n") } }
        }
        #expect(numbers == [2499, 2500, 7, 833, 1250, 1])
        // Triggers work again, and numbers continue behind those that were used.
        let id = try await database.write { connection in
            try connection.first("INSERT INTO robots (name) VALUES ('new') RETURNING id") { $0.int("id") }
        }
        #expect(id == 2501)
        #expect(try database.readBlocking { try $0.first("SELECT number FROM counts") { $0.int("number") } } == 2501)
    }

    @Test func aCopyThatIsRepeatedFindsTheSameRows() throws {
        try fileWithRobots(60)
        #expect(try copyToServer())
        #expect(try !copyToServer())
    }

    @Test func aSchemaWithOtherRowsIsRefused() async throws {
        try fileWithRobots(60)
        let database = try server()
        try await database.write { try Self.fill($0, robots: 1...1) }
        database.close()
        let error = #expect(throws: DatabaseError.self) { _ = try copyToServer() }
        #expect("\(error as Any)".contains("has tables already, and other rows"))
    }

    @Test func aFailedCopyLeavesTheSchemaEmpty() throws {
        let database = try Database(path: file, migrations: Self.migrations.map(\.used))
        try database.writeBlocking { connection in
            try Self.fill(connection, robots: 1...120)
            try connection.execute("UPDATE robots SET name = $1 WHERE id = 77", "a\0b")
        }
        database.close()
        let error = #expect(throws: DatabaseError.self) { _ = try copyToServer() }
        #expect(
            "\(error as Any)".contains("the row of the table robots with id = 77 has a text with the character U+0000"))
        let isEmpty = try scratch.connection().first("SELECT to_regclass('robots') IS NULL AS empty") {
            $0.bool("empty")
        }
        #expect(isEmpty == true)
    }

    @Test func aServersDatabaseIsCopiedToAFile() async throws {
        try fileWithRobots(2500)
        #expect(try copyToServer())
        let database = try server()
        defer { database.close() }
        let copy = scratch.path + "/copy.db"
        try await database.copy(to: copy)
        let difference = try Database.inspect(path: file) { original in
            try Database.inspect(path: copy) { copy in try original.tableLayouts().difference(original, copy).1 }
        }
        #expect(difference == nil)
        #expect(try database.requireSameRows(as: copy).rows == 2499 + 2499 + 3)
        let opened = try Database(path: copy, migrations: Self.migrations)
        defer { opened.close() }
        let id = try await opened.write { connection in
            try connection.first("INSERT INTO robots (name) VALUES ('new') RETURNING id") { $0.int("id") }
        }
        #expect(id == 2501)
        #expect(try opened.readBlocking { try $0.first("SELECT number FROM counts") { $0.int("number") } } == 2501)
    }

    /// Writers move a name between robots, delete, add, and keep sums: a copy that mixed two moments would break one of them.
    @Test func aCopyOfAServerThatIsWrittenIsOfOneMoment() async throws {
        let database = try server()
        defer { database.close() }
        try await database.write { try Self.fill($0, robots: 1...3000) }
        let progress = Progress()
        let (writes, wrote) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var next = 10_000 * (writer + 1)
                    while !progress.isOver.withLock({ $0 }), !Task.isCancelled {
                        next += 1
                        let (id, old) = (next, writer * 700 + next % 700 + 1)
                        try await database.write { try Self.change($0, new: id, old: old) }
                        progress.writes.withLock { $0 += 1 }
                        wrote.yield()
                    }
                }
            }
            for await _ in writes.prefix(50) {}
            for attempt in 0..<3 {
                let before = progress.writes.withLock { $0 }
                let copy = scratch.path + "/moment-\(attempt).db"
                try await database.copy(to: copy)
                #expect(progress.writes.withLock { $0 } > before)
                try Self.expectOneMoment(copy)
            }
            progress.isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
    }

    /// Replaces a robot by another one with its name, and changes the count of arrivals that all robots share.
    private static func change(_ connection: Connection, new: Int, old: Int) throws {
        try connection.execute("DELETE FROM arrivals WHERE robot_id = $1", old)
        try connection.execute("DELETE FROM robots WHERE id = $1", old)
        try connection.execute(
            "INSERT INTO robots (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", new, "Röbot \(old)")
        try connection.execute(
            "UPDATE robots SET name = CAST(id AS TEXT) || '!' WHERE id = (SELECT max(id) FROM robots WHERE id < $1)",
            new)
        try connection.execute("DELETE FROM settings")
        try connection.execute("INSERT INTO settings (value) SELECT count(*) FROM robots")
    }

    private static func expectOneMoment(_ path: String) throws {
        try Database.inspect(path: path) { copy in
            #expect(try copy.query("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
            let counted = try copy.first("SELECT (SELECT count(*) FROM robots) = (SELECT value FROM settings) AS same")
            {
                $0.bool("same")
            }
            #expect(counted == true)
            #expect(try !copy.hasRow("SELECT 1 FROM pragma_foreign_key_check"))
        }
    }

    @Test func aCancelledCopyEnds() async throws {
        let database = try server()
        defer { database.close() }
        let path = scratch.path + "/cancelled.db"
        let copy = Task { try await database.copy(to: path) }
        copy.cancel()
        await #expect(throws: CancellationError.self) { try await copy.value }
    }

    @Test func tablesAreSortedByTheirReferences() throws {
        try fileWithRobots(1)
        let names = try Database.inspect(path: file) { try $0.tableLayouts().map(\.name) }
        #expect(names.firstIndex(of: "robots") ?? 9 < names.firstIndex(of: "arrivals") ?? 0)
        #expect(Set(names) == ["robots", "arrivals", "counts", "settings", "extras"])
    }
}
