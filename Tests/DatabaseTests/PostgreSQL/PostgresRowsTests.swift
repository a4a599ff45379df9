import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// Rows that are read one at a time.
@Suite(.timeLimited, .onPostgres) struct PostgresRowsTests {
    private let scratch: Scratch
    private let proxy: ServerProxy
    private let database: Database

    init() throws {
        scratch = try Scratch()
        proxy = try ServerProxy(in: scratch.path)
        database = try scratch.database(on: scratch.server(through: proxy))
    }

    /// Rows of one MiB.
    private static let large = "SELECT n, repeat('x', 1048576) AS body FROM generate_series(1, $1) n ORDER BY n"

    @Test func pageIsReadBeforeAllRowsHaveArrived() throws {
        try database.readBlocking { connection in
            var received: [Int] = []
            let page = try connection.page(PageLimit(rows: 100, bytes: 5 << 19), Self.large, 64) { row in
                received.append(proxy.receivedBytes)
                return row.int("n")
            }
            #expect(page.rows == [1, 2] && page.hasMore)
            #expect(try #require(received.last) < 16 << 20)
            // The connection is at the end of the statement.
            #expect(try connection.first("SELECT 7 AS n") { $0.int("n") } == 7)
        }
    }

    @Test func firstRowIsReadBeforeAllRowsHaveArrived() throws {
        try database.readBlocking { connection in
            let received = try connection.first(Self.large, 64) { _ in proxy.receivedBytes }
            #expect(try #require(received) < 16 << 20)
            #expect(try connection.hasRow(Self.large, 3))
            #expect(try !connection.hasRow(Self.large, 0))
            #expect(try connection.first(Self.large, 0) { $0.int("n") } == nil)
        }
    }

    @Test func statementsInsideAPageLeaveItsRows() throws {
        let sql = "SELECT n FROM generate_series(CAST($1 AS BIGINT), $2) n ORDER BY n"
        let rows = try database.readBlocking { connection in
            try connection.page(PageLimit(rows: 3), sql, 1, 4) { outer in
                let inner = try connection.page(PageLimit(rows: 2), sql, outer.int("n"), 9) { $0.int("n") }.rows
                let first = try connection.first("SELECT CAST($1 AS BIGINT) * 10 AS n", outer.int("n")) { $0.int("n") }
                return inner + [first ?? 0]
            }.rows
        }
        #expect(rows == [[1, 2, 10], [2, 3, 20], [3, 4, 30]])
    }

    @Test func laterRowThatFailsIsReported() throws {
        let error = DatabaseError.server(state: "22012", message: "division by zero")
        let sql = "SELECT 6 / (3 - n) AS n FROM generate_series(1, $1) n"
        #expect(throws: error) {
            try database.readBlocking { connection in
                try connection.page(PageLimit(rows: 5), sql, 3) { $0.int("n") }
            }
        }
        let page = try database.readBlocking { try $0.page(PageLimit(rows: 5), sql, 2) { $0.int("n") } }
        #expect(page.rows == [3, 6] && !page.hasMore)
    }

    @Test func statementThatCannotBePreparedIsReported() throws {
        for _ in 0..<2 {
            #expect(throws: DatabaseError.server(state: "42P01", message: "relation \"nothing\" does not exist")) {
                try database.readBlocking { try $0.hasRow("SELECT 1 FROM nothing") }
            }
        }
        #expect(try database.notes().isEmpty)
    }

    @Test func rowsOfAWriteAreReadInItsBatch() throws {
        let sql = "INSERT INTO notes (body) SELECT CAST(n AS TEXT) FROM generate_series(1, $1) n RETURNING body"
        let bodies = try database.writeBlocking { connection in
            let first = try connection.first(sql, 3) { $0.text("body") }
            return [first] + (try connection.query("SELECT body FROM notes ORDER BY id") { $0.text("body") })
        }
        #expect(bodies == ["1", "1", "2", "3"])
    }
}
