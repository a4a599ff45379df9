import Basics
import DatabaseTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct PageLimitTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.database([
            Migration(name: "rows", sql: "CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT")
        ])
    }

    private func insert(_ sizes: [Int]) throws {
        try database.writeBlocking { connection in
            for size in sizes {
                try connection.execute(
                    "INSERT INTO rows (body) VALUES ($1)", String(repeating: "x", count: size))
            }
        }
    }

    /// A row counts 16 bytes for its two columns, and its text.
    private static func page(
        _ limit: PageLimit, after id: Int64 = 0, in connection: ReadConnection
    ) throws -> PageRows<Int64> {
        try connection.page(
            limit, "SELECT id, body FROM rows WHERE id > $1 ORDER BY id LIMIT $2", id, limit.statementRows
        ) { $0.int64("id") }
    }

    /// Returns the numbers of rows on all pages.
    private func walk(rows: Int, bytes: Int) throws -> [Int] {
        try database.readBlocking { connection in
            var (counts, last, hasMore) = ([Int](), Int64(0), true)
            while hasMore {
                let page = try Self.page(PageLimit(rows: rows, bytes: bytes), after: last, in: connection)
                #expect(page.rows == Array(last + 1..<last + 1 + Int64(page.rows.count)))
                counts.append(page.rows.count)
                (last, hasMore) = (page.rows.last ?? last, page.hasMore)
            }
            return counts
        }
    }

    @Test func pageEndsAtTheFirstLimit() throws {
        try insert([84, 84, 84, 84, 84])
        #expect(try walk(rows: 2, bytes: 1000) == [2, 2, 1])
        #expect(try walk(rows: 10, bytes: 300) == [3, 2])
        #expect(try walk(rows: 10, bytes: 299) == [2, 2, 1])
        #expect(try walk(rows: 5, bytes: 500) == [5])
        #expect(try walk(rows: .max, bytes: .max) == [5])
    }

    @Test func largeRowHasAPageOfItsOwn() throws {
        try insert([1, 5000, 1, 5000])
        #expect(try walk(rows: 10, bytes: 100) == [1, 1, 1, 1])
        #expect(try walk(rows: 10, bytes: 1) == [1, 1, 1, 1])
    }

    @Test func emptyListHasOnePage() throws {
        #expect(try walk(rows: 10, bytes: 100) == [0])
    }

    /// The third row fails when the engine computes it.
    @Test(.onSQLite) func noRowBehindThePageIsRead() throws {
        let statement = "SELECT value, CASE value WHEN 3 THEN abs(-9223372036854775808) END AS failing FROM numbers"
        let numbers = "WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers LIMIT 5)"
        try database.readBlocking { connection in
            let page = try connection.page(PageLimit(rows: 5, bytes: 20), "\(numbers) \(statement)") {
                $0.int64("value")
            }
            #expect(page.rows == [1] && page.hasMore)
        }
        #expect(throws: DatabaseError.failed(code: 1, message: "integer overflow")) {
            try database.readBlocking { connection in
                try connection.page(PageLimit(rows: 5), "\(numbers) \(statement)") { $0.int64("value") }
            }
        }
    }

    @Test(.onSQLite) func numbersAreNoTexts() throws {
        try database.readBlocking { connection in
            let sizes = try connection.query("SELECT 9223372036854775807 AS a, NULL AS b, 'äb' AS c, x'00' AS d") {
                $0.byteCount
            }
            #expect(sizes == [4 * 8 + 3 + 1])
        }
    }

    /// The parts of one page, as ``Database/readPage(_:_:)`` asked for them.
    private func parts(_ limit: PageLimit) async throws -> (page: PageRows<Int64>, limits: [PageLimit]) {
        let limits = Lock<[PageLimit]>([])
        let page = try await database.readPage(limit) { connection, limit, last in
            limits.withLock { $0.append(limit) }
            return try Self.page(limit, after: last ?? 0, in: connection)
        }
        return (page, limits.withLock { $0 })
    }

    @Test func shortPageIsReadAtOnce() async throws {
        try insert(Array(repeating: 100, count: 50))
        for rows in [1, 49, 50, 1000] {
            let (page, limits) = try await parts(PageLimit(rows: rows))
            #expect(page.rows == Array(1...Int64(min(rows, 50))))
            #expect(page.hasMore == (rows < 50))
            #expect(limits.count == 1)
        }
    }

    @Test(.onSQLite) func restOfALongPageIsReadInTheBackground() async throws {
        try insert(Array(repeating: 100, count: 120))
        let (page, limits) = try await parts(PageLimit(rows: 100))
        #expect(page.rows == Array(1...100) && page.hasMore && page.bytes == 100 * 116)
        #expect(limits.map(\.rows) == [50, 50])
        let (all, _) = try await parts(PageLimit(rows: 1000))
        #expect(all.rows == Array(1...120) && !all.hasMore)
    }

    @Test(.onSQLite) func largeRowsAreReadInTheBackground() async throws {
        try insert(Array(repeating: 500_000, count: 4))
        let (page, limits) = try await parts(PageLimit(rows: 10))
        #expect(page.rows == [1, 2] && page.hasMore)
        #expect(limits.map(\.takesFirstRow) == [false, true])
        #expect(limits[0].bytes <= 64 << 10)
    }

    @Test(.onPostgres) func pageOfAServerIsOneRead() async throws {
        try insert(Array(repeating: 100, count: 120))
        let (page, limits) = try await parts(PageLimit(rows: 100))
        #expect(page.rows == Array(1...100) && page.hasMore && page.bytes == 100 * 116)
        #expect(limits == [PageLimit(rows: 100)])
    }

    @Test func bothPartsShareTheLimitInBytes() async throws {
        try insert(Array(repeating: 10_000, count: 200))
        let (page, _) = try await parts(PageLimit(rows: 1000))
        #expect(page.rows.count == PageLimit.bytes / 10_016 && page.hasMore)
    }
}
