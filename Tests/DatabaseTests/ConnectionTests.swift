import Basics
import CSQLite
import DatabaseTesting
import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct ConnectionTests {
    private static let table = DatabaseEngine.choose(
        sqlite: "CREATE TABLE t (a INTEGER, b TEXT, c BLOB, d INTEGER)",
        postgres: "CREATE TABLE t (a BIGINT, b TEXT, c BYTEA, d BIGINT)")

    let scratch: Scratch
    let connection: Connection

    init() throws {
        scratch = try Scratch()
        connection = try scratch.connection()
        try connection.execute(Self.table)
    }

    @Test func everyKindOfValueComesBackAsItWent() throws {
        let insert = "INSERT INTO t VALUES ($1, $2, $3, $4)"
        // PostgreSQL has no text with U+0000.
        let text = DatabaseEngine.choose(sqlite: "naïve\0text", postgres: "naïve text")
        try connection.execute(insert, Int64.min, text, [0, 255] as [UInt8], true)
        try connection.execute(insert, nil, "", [UInt8](), false)
        let rows = try connection.query("SELECT a, b, c, d FROM t ORDER BY d DESC") { row in
            (row.optionalInt64(0), row.optionalText(1), row.isNull(2) ? nil : row.blob(2), row.bool(3))
        }
        #expect(rows[0] == (Int64.min, text, [0, 255], true))
        #expect(rows[1] == (nil, "", [], false))
    }

    @Test func columnsAreReadByNameWhateverTheirOrder() throws {
        try connection.execute("INSERT INTO t VALUES (1, 'one', $1, 0), (2, NULL, NULL, 1)", [7] as [UInt8])
        for list in ["a, b, c, d AS is_set, a * 10 AS tenfold", "a * 10 AS tenfold, t.d AS is_set, t.b, c, a"] {
            let rows = try connection.query("SELECT \(list) FROM t ORDER BY t.a") { row in
                (row.int("tenfold"), row.optionalText("b"), row.blob("c"), row.bool("is_set"), row.int64("a"))
            }
            #expect(rows[0] == (10, "one", [7], false, 1))
            #expect(rows[1] == (20, nil, [], true, 2))
        }
    }

    /// The same name elsewhere in the source is another literal.
    @Test func aNameMayBeReadInSeveralPlaces() throws {
        try connection.execute("INSERT INTO t (a, d) VALUES (1, 60000000)")
        let read: [(Row) -> Int64] = [
            { $0.int64("d") + $0.int64("d") }, { $0.time("d").seconds }, { $0.optionalTime("d")?.seconds ?? 0 },
        ]
        for (read, expected) in zip(read + read, [120_000_000, 60, 60, 120_000_000, 60, 60] as [Int64]) {
            #expect(try connection.first("SELECT a, d FROM t", row: read) == expected)
        }
    }

    @Test(arguments: ["SELECT a FROM t", "SELECT b, d AS b FROM t"])
    func aNameThatIsNotOneColumnTraps(_ sql: String) async {
        await #expect(processExitsWith: .failure) { [sql] in
            let scratch = try Scratch()
            let connection = try scratch.connection()
            try connection.execute("CREATE TABLE t (a INTEGER, b TEXT, d INTEGER)")
            try connection.execute("INSERT INTO t VALUES (1, '', 2)")
            _ = try connection.first(sql) { $0.text("b") }
        }
    }

    /// SQLite before 3.43 has no such function.
    @Test(.onSQLite) func octetLengthCountsTheBytesOfEveryKindOfValue() throws {
        let reader = ReadConnection(try SQLiteSession(path: scratch.path + "/test.db", mode: .reader))
        for connection in [connection, reader] {
            for (value, expected) in [("naïve\0text", 11), ("", 0), ([0, 255] as [UInt8], 2), (-10, 3)]
                as [(any Bindable, Int)]
            {
                #expect(try connection.first("SELECT octet_length($1) AS bytes", value) { $0.int("bytes") } == expected)
            }
            #expect(try connection.first("SELECT octet_length($1) AS bytes", nil) { $0.isNull("bytes") } == true)
        }
    }

    @Test func parametersAreBoundByTheirNumber() throws {
        let values = try connection.first(
            "SELECT CAST($2 AS TEXT), CAST($1 AS TEXT), CAST($2 AS TEXT)", "one", "two"
        ) { ($0.text(0), $0.text(1), $0.text(2)) }
        #expect(try #require(values) == ("two", "one", "two"))
    }

    @Test func wrongNumberOfArgumentsIsRefused() {
        #expect(throws: DatabaseError.self) { try connection.execute("INSERT INTO t (a) VALUES ($1)") }
        #expect(throws: DatabaseError.self) { try connection.execute("INSERT INTO t (a) VALUES ($2)", 1) }
        #expect(throws: DatabaseError.self) { try connection.execute("INSERT INTO t (a) VALUES (1)", 1) }
    }

    @Test func sameTextMayRunInsideItself() throws {
        try connection.execute("INSERT INTO t (a) VALUES (1), (2)")
        let pairs = try connection.query("SELECT a FROM t ORDER BY a") { outer in
            try connection.query("SELECT a FROM t ORDER BY a") { outer.int(0) * 10 + $0.int(0) }
        }
        #expect(pairs == [[11, 12], [21, 22]])
    }

    @Test(.onSQLite) func memoryIsNotCountedUnderALock() throws {
        try connection.execute("INSERT INTO t (a) VALUES (1)")
        #expect(sqlite3_memory_used() == 0)
    }

    @Test func aStatementThatFailedCanBeUsedAgain() throws {
        try connection.execute("CREATE UNIQUE INDEX u ON t (a)")
        let insert = "INSERT INTO t (a) VALUES ($1)"
        try connection.execute(insert, 1)
        let message = DatabaseEngine.choose(
            sqlite: "UNIQUE constraint failed: t.a",
            postgres: "duplicate key value violates unique constraint \"u\"")
        #expect(throws: DatabaseError.constraint(.unique, message: message)) {
            try connection.execute(insert, 1)
        }
        #expect(try connection.execute(insert, 2) == 1)
    }

    @Test(
        .onSQLite,
        arguments: [
            "INSERT INTO t (a) VALUES (1) RETURNING a", "UPDATE t SET a = 2 RETURNING a", "DELETE FROM t RETURNING a",
            "CREATE TABLE u (a INTEGER)",
        ])
    func readConnectionRefusesStatementsThatWrite(_ sql: String) throws {
        try connection.execute("INSERT INTO t (a) VALUES (7)")
        // The immutable mode does not read the log.
        try connection.session.file?.checkpoint(.truncating)
        for mode in [SQLiteSession.Mode.reader, .immutable] {
            let reader = ReadConnection(try SQLiteSession(path: scratch.path + "/test.db", mode: mode))
            let refusal = DatabaseError.misuse("a read connection cannot run a statement that writes: \(sql)")
            #expect(throws: refusal) { try reader.query(sql) { $0.int(0) } }
            #expect(throws: refusal) { try reader.first(sql) { $0.int(0) } }
            #expect(throws: refusal) { try reader.hasRow(sql) }
        }
        #expect(try connection.query("SELECT a FROM t") { $0.int(0) } == [7])
    }
}
