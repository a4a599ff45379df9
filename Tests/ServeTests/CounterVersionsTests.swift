import Basics
import Database
import DatabaseTesting
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Serve

/// The counters of a schema on PostgreSQL.
@Suite(.timeLimited, .onPostgres) struct CounterVersionsTests {
    /// The tables of counters without versions, with a row each.
    private static let tables = """
        CREATE TABLE audit_usage (
            organization_id BIGINT PRIMARY KEY, lines BIGINT NOT NULL, purged_below BIGINT NOT NULL DEFAULT 0);
        INSERT INTO audit_usage (organization_id, lines, purged_below) VALUES (1, 5, 3);
        CREATE TABLE object_days (
            organization_id BIGINT NOT NULL, day BIGINT NOT NULL,
            arrived_objects BIGINT NOT NULL DEFAULT 0, arrived_bytes BIGINT NOT NULL DEFAULT 0,
            deleted_objects BIGINT NOT NULL DEFAULT 0, deleted_bytes BIGINT NOT NULL DEFAULT 0,
            requested_objects BIGINT NOT NULL DEFAULT 0, requested_bytes BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (organization_id, day));
        INSERT INTO object_days (organization_id, day, deleted_bytes) VALUES (1, 100, 5);
        CREATE TABLE object_facets (
            organization_id BIGINT NOT NULL, kind BIGINT NOT NULL, key TEXT COLLATE "C" NOT NULL,
            value TEXT COLLATE "C" NOT NULL, objects BIGINT NOT NULL, bytes BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (organization_id, kind, key, value));
        CREATE INDEX object_facets_by_objects ON object_facets (organization_id, kind, key, objects);
        INSERT INTO object_facets (organization_id, kind, key, value, objects) VALUES (1, 1, '', '', 5);
        CREATE TABLE object_times (
            organization_id BIGINT NOT NULL, span BIGINT NOT NULL, start BIGINT NOT NULL,
            first_position BIGINT NOT NULL, last_position BIGINT NOT NULL, PRIMARY KEY (organization_id, span, start));
        INSERT INTO object_times (organization_id, span, start, first_position, last_position) VALUES (1, 600, 7, 5, 5);
        CREATE TABLE store_owner_usage (owner TEXT COLLATE "C" PRIMARY KEY, bytes BIGINT NOT NULL);
        INSERT INTO store_owner_usage (owner, bytes) VALUES ('key', 5);
        CREATE TABLE upload_usage (
            owner TEXT COLLATE "C" PRIMARY KEY, bytes BIGINT NOT NULL, objects BIGINT NOT NULL, uploads BIGINT NOT NULL);
        INSERT INTO upload_usage (owner, bytes, objects, uploads) VALUES ('site/1', 5, 0, 0);
        """
    /// The query of each counter's row.
    private static let queries = [
        "SELECT lines AS sum FROM audit_usage WHERE organization_id = 1",
        "SELECT deleted_bytes AS sum FROM object_days WHERE organization_id = 1 AND day = 100",
        "SELECT objects AS sum FROM object_facets WHERE organization_id = 1 AND kind = 1",
        "SELECT last_position AS sum FROM object_times WHERE organization_id = 1 AND first_position = 5",
        "SELECT bytes AS sum FROM store_owner_usage_newest('key')",
        "SELECT bytes AS sum FROM upload_usage_newest('site/1')",
    ]

    /// Returns the statement for each counter that adds 1, if it has `sum`. What follows a conflict has no effect.
    private static func additions(to sum: Int) -> [String] {
        [
            """
            INSERT INTO audit_usage (organization_id, lines) VALUES (1, 1)
            ON CONFLICT (organization_id) DO UPDATE SET lines = 0
            """,
            """
            INSERT INTO object_days (organization_id, day, deleted_bytes) VALUES (1, 100, 1)
            ON CONFLICT (organization_id, day) DO UPDATE SET deleted_bytes = 0
            """,
            """
            INSERT INTO object_facets (organization_id, kind, key, value, objects) VALUES (1, 1, '', '', 1)
            ON CONFLICT (organization_id, kind, key, value) DO UPDATE SET objects = 0
            """,
            """
            INSERT INTO object_times (organization_id, span, start, first_position, last_position)
            VALUES (1, 600, 7, 5, \(sum + 1)) ON CONFLICT (organization_id, span, start) DO UPDATE SET last_position = 0
            """,
            "INSERT INTO store_owner_usage (owner, bytes) VALUES ('key', 1) ON CONFLICT (owner) DO UPDATE SET bytes = 0",
            """
            INSERT INTO upload_usage (owner, bytes, objects, uploads) VALUES ('site/1', 1, 0, 0)
            ON CONFLICT (owner) DO UPDATE SET bytes = 0
            """,
        ]
    }

    private let database: Database

    init() throws {
        var server = PostgresServer(url: DatabaseEngine.url, schema: "counters_\(UUID())")
        server.idleTimeout = .seconds(600)
        let before = Migration(name: "before", sql: "", postgres: Self.tables)
        try Database(server: server, baseline: "", migrations: [before]).close()
        database = try Database(server: server, baseline: "", migrations: [before, CounterVersions.migration])
    }

    /// Adds 1 to each counter in transactions of their own, until each has `sum`.
    private func add(from first: Int, to sum: Int) throws {
        for sum in first..<sum {
            try database.writeBlocking { connection in
                for statement in Self.additions(to: sum) { try connection.execute(statement) }
            }
        }
    }

    private func sums() throws -> [Int64] {
        try database.readBlocking { connection in
            try Self.queries.flatMap { try connection.query($0) { $0.int64("sum") } }
        }
    }

    /// Returns the pages that one more addition to each counter reads, and each query of a newest row.
    private func pages(at sum: Int) throws -> [Int] {
        try database.writeBlocking { connection in
            let newest = Self.queries.filter { $0.contains("_newest") }
            return try (Self.additions(to: sum) + newest).map { statement in
                let plan = try connection.query("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) \(statement)") {
                    $0.text("QUERY PLAN")
                }
                let line = try #require(plan.first { $0.contains("Buffers:") })
                return line.matches(of: /(?:hit|read)=(\d+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
            }
        }
    }

    @Test func rowsOfAnEarlierSchemaStay() throws {
        defer { database.close() }
        #expect(try sums() == [5, 5, 5, 5, 5, 5])
        try add(from: 5, to: 45)
        #expect(try sums() == [45, 45, 45, 45, 45, 45])
    }

    @Test func aDeletedRowBeginsAgain() throws {
        defer { database.close() }
        try add(from: 5, to: 45)
        let deleted = try database.writeBlocking { connection in
            try ["audit_usage", "object_days", "object_facets", "store_owner_usage", "upload_usage"].map { table in
                try connection.execute("DELETE FROM \(table)")
            }
        }
        #expect(deleted == [1, 1, 1, 1, 1])
        try add(from: 45, to: 46)
        #expect(try sums() == [1, 1, 1, 46, 1, 1])
    }

    @Test func anOpenSnapshotDoesNotMakeWritesReadMore() throws {
        defer { database.close() }
        let (opened, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let snapshot = TestThread { [database] in
            #expect(throws: Never.self) {
                try database.readBlocking { connection in
                    #expect(try connection.query("SELECT lines FROM audit_usage") { $0.int64("lines") } == [5])
                    opened.signal()
                    try end.waitForSignal()
                    #expect(try connection.query("SELECT lines FROM audit_usage") { $0.int64("lines") } == [5])
                }
            }
        }
        try opened.waitForSignal()
        // Multiples of the changes after which a version gets a number, so that both looks are at the same place.
        try add(from: 5, to: 37)
        let first = try pages(at: 37)
        try add(from: 38, to: 37 + 640)
        let last = try pages(at: 37 + 640)
        end.signal()
        try snapshot.join()
        for (first, last) in zip(first, last) { #expect(last <= first + 6, "\(first) pages became \(last)") }
        #expect(try sums() == Array(repeating: 38 + 640, count: 6))
    }
}
