import DatabaseTesting
import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited, .onPostgres) struct PostgresConnectionTests {
    private let scratch: Scratch
    private let connection: Connection

    init() throws {
        scratch = try Scratch()
        connection = try scratch.connection()
        try connection.execute("CREATE TABLE t (a BIGINT, b TEXT)")
    }

    private func integer(_ expression: String) throws -> Int64? {
        try connection.first("SELECT \(expression) AS value") { $0.int64("value") }
    }

    private func text(_ expression: String) throws -> String? {
        try connection.first("SELECT \(expression) AS value") { $0.text("value") }
    }

    @Test(
        arguments: [
            ("CAST(-9223372036854775808 AS BIGINT)", Int64.min), ("CAST(9223372036854775807 AS BIGINT)", .max),
            ("CAST(-7 AS INTEGER)", -7), ("CAST(-7 AS SMALLINT)", -7), ("1 = 1", 1), ("1 = 2", 0),
            ("CAST(0 AS NUMERIC)", 0), ("CAST(12345678 AS NUMERIC)", 12_345_678), ("CAST(-10000 AS NUMERIC)", -10_000),
            ("CAST(100000000 AS NUMERIC)", 100_000_000), ("CAST(-9223372036854775808 AS NUMERIC)", .min),
            ("CAST(9223372036854775807 AS NUMERIC)", .max), ("CAST('1e30' AS NUMERIC)", .max), ("0.00012", 0),
            ("CAST(2.75 AS DOUBLE PRECISION)", 2), ("CAST(-2.75 AS REAL)", -2),
            ("CAST('1e300' AS DOUBLE PRECISION)", .max),
            ("CAST('42' AS TEXT)", 42), ("CAST(NULL AS BIGINT)", 0), ("count(*)", 1),
        ] as [(String, Int64)])
    func numberOfEachTypeIsRead(_ expression: String, _ expected: Int64) throws {
        #expect(try integer(expression) == expected)
    }

    @Test(
        arguments: [
            ("CAST(-7 AS BIGINT)", "-7"), ("CAST(2.5 AS DOUBLE PRECISION)", "2.5"), ("CAST('ä' AS TEXT)", "ä"),
            ("''", ""),
            ("CAST(NULL AS TEXT)", ""), ("CAST('\\x6162' AS BYTEA)", "ab"), ("current_schema()", nil),
        ] as [(String, String?)])
    func valueOfEachTypeIsReadAsText(_ expression: String, _ expected: String?) throws {
        #expect(try text(expression) == expected ?? scratch.server.schema)
    }

    @Test func sumOfNumbersIsRead() throws {
        try connection.execute("INSERT INTO t (a) VALUES (9000000000000000000), (-1), (23)")
        #expect(try integer("(SELECT sum(a) FROM t WHERE a < 100)") == 22)
        #expect(try integer("(SELECT sum(a) FROM t)") == 9_000_000_000_000_000_022)
        #expect(try integer("(SELECT sum(a) FROM t WHERE a = 5)") == 0)
    }

    @Test func rowCountsTheBytesOfTextsAndBlobs() throws {
        let sizes = try connection.query(
            "SELECT 9223372036854775807 AS a, NULL AS b, 'äb' AS c, CAST('\\x00' AS BYTEA) AS d"
        ) { $0.byteCount }
        #expect(sizes == [4 * 8 + 3 + 1])
    }

    @Test func textWithU0000IsRefusedBeforeItIsSent() throws {
        try connection.session.begin()
        #expect(throws: DatabaseError.misuse("PostgreSQL has no text with the character U+0000")) {
            try connection.execute("INSERT INTO t (b) VALUES ($1)", "a\0b")
        }
        try connection.execute("INSERT INTO t (b) VALUES ($1)", "after")
        try connection.session.commit()
        #expect(try text("(SELECT b FROM t)") == "after")
    }

    @Test func statementsOfTheServerAreBounded() throws {
        for number in 0..<600 { #expect(try integer("CAST(\(number) AS BIGINT)") == Int64(number)) }
        let count = try connection.first("SELECT count(*) AS count FROM pg_prepared_statements") { $0.int("count") }
        #expect(try #require(count) <= 256)
        #expect(try integer("CAST(0 AS BIGINT)") == 0)
    }

    @Test func textInsideItselfIsPreparedOnce() throws {
        try connection.execute("INSERT INTO t (a) VALUES (1), (2), (3)")
        let sql = "SELECT a FROM t ORDER BY a"
        let numbers = try connection.query(sql) { outer in
            try connection.query(sql) { inner in outer.int(0) * 10 + inner.int(0) }
        }
        #expect(numbers.flatMap(\.self) == [11, 12, 13, 21, 22, 23, 31, 32, 33])
        let count = try connection.first(
            "SELECT count(*) AS count FROM pg_prepared_statements WHERE statement = $1", sql
        ) { $0.int("count") }
        #expect(count == 1)
    }

    @Test func textThatFailsIsPreparedOnce() throws {
        let sql = "SELECT 1 / CAST($1 AS BIGINT) AS value"
        for _ in 0..<3 {
            #expect(throws: DatabaseError.server(state: "22012", message: "division by zero")) {
                try connection.hasRow(sql, 0)
            }
        }
        let count = try connection.first(
            "SELECT count(*) AS count FROM pg_prepared_statements WHERE statement = $1", sql
        ) { $0.int("count") }
        #expect(count == 1)
    }

    @Test func wrongNumberOfArgumentsIsMisuse() throws {
        for arguments in [[], [1, 2]] as [[any Bindable]] {
            do {
                try connection.execute("INSERT INTO t (a) VALUES ($1)", arguments: arguments)
                Issue.record("\(arguments.count) arguments are accepted")
            } catch DatabaseError.misuse {}
        }
        #expect(try connection.execute("INSERT INTO t (a) VALUES ($1)", 1) == 1)
    }

    @Test(arguments: ["INSERT INTO t (a) VALUES (1) RETURNING a", "UPDATE t SET a = 2", "CREATE TABLE u (a BIGINT)"])
    func readerRefusesStatementsThatWrite(_ sql: String) throws {
        let reader = try scratch.reader()
        try reader.session.begin()
        #expect(throws: DatabaseError.misuse("a read connection cannot run a statement that writes: \(sql)")) {
            try reader.hasRow(sql)
        }
        try reader.session.control("ROLLBACK")
        #expect(try !connection.hasRow("SELECT a FROM t"))
    }

    @Test func changedTableNeedsItsStatementsAgain() throws {
        let reader = try scratch.reader()
        try connection.execute("INSERT INTO t (a, b) VALUES (1, 'one')")
        let read = { try reader.query("SELECT * FROM t") { $0.text("b") } }
        #expect(try read() == ["one"])
        try connection.execute("ALTER TABLE t ADD COLUMN c BIGINT")
        #expect(throws: DatabaseError.unavailable("a statement has to be prepared again")) { try read() }
        try reader.session.begin()
        #expect(try read() == ["one"])
        try reader.session.commit()
    }

    @Test func droppedStatementIsPreparedAgain() throws {
        let insert = "INSERT INTO t (a) VALUES (1)"
        try connection.execute(insert)
        try connection.session.executeScript("DEALLOCATE ALL")
        #expect(throws: DatabaseError.unavailable("a statement has to be prepared again")) {
            try connection.execute(insert)
        }
        try connection.session.begin()
        #expect(try connection.execute(insert) == 1)
        try connection.session.commit()
    }

    @Test func unsupportedStatementIsNotPreparedAgain() throws {
        #expect(
            throws: DatabaseError.server(
                state: "0A000", message: "FOR UPDATE is not allowed with aggregate functions")
        ) {
            try connection.hasRow("SELECT count(*) FROM t FOR UPDATE")
        }
    }

    @Test func sessionHasItsSettings() throws {
        let names = [
            "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "client_encoding", "jit",
        ]
        for (connection, statement) in [(connection, "15s"), (try scratch.reader(), "30s")] {
            let values = try names.map { name in
                try connection.first("SELECT current_setting($1) AS value", name) { $0.text("value") }
            }
            #expect(values == [statement, "10s", "5s", "UTF8", "off"])
        }
    }
}
