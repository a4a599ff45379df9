import Basics
import Database
import DatabaseTesting
import Dispatch
import HTTPTestClient
import StoreProtocol
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore

/// Ended multipart uploads: they become invisible at once, however many there are, and no transaction deletes many rows.
@Suite(.timeLimited) struct DiscardTests {
    private let test: TestStore

    init() throws {
        test = try TestStore()
    }

    /// Inserts rows that a version without limits could have left.
    private func insert(multiparts: Int, parts: Int, uploadID: String = "upload-1") throws {
        let claims = test.claims(uploadID: uploadID)
        let fileID = DatabaseEngine.randomFileID
        try test.database.writeBlocking { connection in
            _ = try connection.execute(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $5)
                INSERT INTO store_multiparts (id, upload_id, bucket, object_key, file_id, part_size, created_at)
                SELECT $1 || '-' || i, $1, $2, $3, \(fileID), $4, i FROM n
                """, uploadID, claims.bucket, claims.key, TestStore.partSize, multiparts)
        }
        // Each part changes the same row of the usage, whose versions PostgreSQL keeps until the end of the transaction.
        for first in stride(from: 1, through: parts, by: 1000) {
            try test.database.writeBlocking { connection in
                _ = try connection.execute(
                    """
                    WITH RECURSIVE n (i) AS (SELECT CAST($2 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $3)
                    INSERT INTO store_parts (multipart_id, number, size, md5, crc64, file_id, stored_at)
                    SELECT m.id, i, 10, $4, 0, CASE WHEN i % 2 = 0 THEN \(fileID) END, 0
                    FROM store_multiparts m CROSS JOIN n WHERE m.upload_id = $1 AND m.id LIKE $1 || '-%'
                    """, uploadID, first, min(first + 999, parts), [0] as [UInt8])
            }
        }
    }

    private func count(_ table: String) throws -> Int {
        try test.database.readBlocking { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0 }
    }

    private func usage() throws -> Int64 {
        try test.database.readBlocking { try $0.first("SELECT sum(bytes) FROM store_usage") { $0.int64(0) } ?? 0 }
    }

    /// Returns the number of rows that `body` changes, including changes by triggers.
    private func changes(_ body: @escaping @Sendable (Connection) throws -> Void) throws -> Int {
        try test.database.writeBlocking { connection in try connection.countingChanges { try body(connection) } }
    }

    @Test(arguments: [(40_000, 0), (3, 10_000), (600, 3)])
    func noTransactionDeletesMoreThanABatch(multiparts: Int, parts: Int) throws {
        test.store.stopBackgroundWork()
        try insert(multiparts: multiparts, parts: parts)
        #expect(try usage() == Int64(multiparts * parts * 10))
        // Each row has at most two usage rows and one scheduled file.
        let ended = try changes { [store = test.store] in try store.discard(uploadID: "upload-1", in: $0) }
        #expect(ended <= 2 * Discards.inline * 4 + 1)
        #expect(try test.snapshot() == StoreSnapshot(multiparts: [], object: nil, isLost: false))
        var batches = 0
        while try test.database.readBlocking({ try StoreRecords($0).hasDiscards() }) {
            let changed = try changes { connection in
                let deleted = try StoreRecords(connection).continueDiscard(limit: Discards.batch)
                #expect(deleted.map { $0.rows <= 2 * Discards.batch } == true)
            }
            #expect(changed <= 2 * Discards.batch * 4 + 1)
            batches += 1
        }
        #expect(batches <= (multiparts + multiparts * parts) / Discards.batch + 2)
        #expect(try count("store_multiparts") == 0 && count("store_parts") == 0 && usage() == 0)
    }

    @Test func noTransactionReleasesMoreFilesThanABatch() throws {
        test.store.stopBackgroundWork()
        try insert(multiparts: 1, parts: 10_000)
        try test.database.writeBlocking { try StoreRecords($0).markCompleted("upload-1-1") }
        let completed = try changes { connection in
            let released = try StoreRecords(connection).releaseFiles(ofPartsOf: "upload-1-1", limit: Discards.inline)
            #expect(released.files.count == Discards.inline && !released.isDone)
        }
        #expect(completed == Discards.inline + 1)
        var files = Discards.inline
        while try test.database.readBlocking({ try StoreRecords($0).hasReleases() }) {
            let released = try test.database.writeBlocking {
                try StoreRecords($0).continueRelease(limit: Discards.batch)?.files.count ?? 0
            }
            #expect(released <= Discards.batch)
            files += released
        }
        #expect(files == 5000)
        let left = try test.database.readBlocking {
            try $0.first("SELECT count(*) FROM store_parts WHERE file_id IS NOT NULL") { $0.int(0) }
        }
        #expect(try left == 0 && count("store_parts") == 10_000)
    }

    @Test func theFilesOfPartsSentTwiceGoAfterTheirComplete() throws {
        let client = test.client()
        let id = try client.initiate()
        let count = 2 * Discards.inline
        for seed in 1...2 {
            for number in 1...count {
                let body = content(Int(TestStore.partSize), seed: UInt64(seed * 1000 + number))
                #expect(try client.part(number, of: id, body).status == 200)
            }
        }
        #expect(try test.files().count == (test.keepsReplacedParts ? count + 1 : 1))
        #expect(try client.completeAll(id).status == 200)
        #expect(try test.files().count == 1)
        #expect(try self.count("store_releases") == 0)
    }

    @Test func remainingRowsAreDiscardedInTheBackground() throws {
        try insert(multiparts: 500, parts: 3)
        try insert(multiparts: 2, parts: 1, uploadID: "upload-2")
        try test.database.writeBlocking { [store = test.store] in try store.discard(uploadID: "upload-1", in: $0) }
        test.store.work.discards.drain()
        #expect(try count("store_multiparts") == 2 && count("store_discards") == 0 && usage() == 20)
        test.store.work.removals.drain()
        #expect(try count("store_removals") == 0)
    }

    @Test func rowsLeftByAStopAreDiscardedAfterTheNextStart() throws {
        test.store.stopBackgroundWork()
        try insert(multiparts: 500, parts: 0)
        try test.database.writeBlocking { [store = test.store] in try store.discard(uploadID: "upload-1", in: $0) }
        test.store.work.discards.drain()
        #expect(try count("store_multiparts") == 500 - Discards.inline)
        try test.restart()
        test.store.work.discards.drain()
        #expect(try count("store_multiparts") == 0 && count("store_discards") == 0)
    }

    @Test func discardedMultipartUploadIsNotFound() throws {
        test.store.stopBackgroundWork()
        let client = test.client()
        let id = try client.initiate()
        #expect(try client.part(1, of: id, content(10)).status == 200)
        try test.database.writeBlocking { connection in
            _ = try StoreRecords(connection).discard(.others(uploadID: "upload-1"), limit: 0)
        }
        #expect(try client.part(2, of: id, content(10)).error == "404 NoSuchUpload")
        #expect(try client.send("GET", query: "uploadId=\(id)").error == "404 NoSuchUpload")
        #expect(try client.completeAll(id).status == 404)
        #expect(try client.send("DELETE", query: "uploadId=\(id)").error == "404 NoSuchUpload")
        let progress = try test.database.readBlocking { try test.store.progress(uploadID: "upload-1", in: $0) }
        #expect(!progress.hasMultipart && !progress.hasPart)
    }

    /// The object's own multipart upload stays, and so do those of other uploads.
    @Test func anObjectKeepsItsMultipartUpload() throws {
        let client = test.client()
        let id = try client.initiate()
        #expect(try client.part(1, of: id, content(10)).status == 200)
        #expect(try client.completeAll(id).status == 200)
        try insert(multiparts: 300, parts: 1)
        try test.database.writeBlocking { [store = test.store] in
            try store.dropOtherMultiparts(uploadID: "upload-1", in: $0)
        }
        test.store.work.discards.drain()
        #expect(try count("store_multiparts") == 1 && usage() == 10)
        #expect(try client.send("GET", query: "uploadId=\(id)").elements("PartNumber") == ["1"])
        #expect(try client.get() == content(10))
    }

    /// `scripts/sql check` looks at the plans of PostgreSQL.
    @Test(.onSQLite) func noStatementLooksAtEveryRow() throws {
        let sql = StoreStatements.discard + [StoreStatements.progress]
        for statement in sql {
            let plan = try test.database.readBlocking { connection in
                let arguments: [(any Bindable)?] =
                    statement.contains("$3") ? ["upload-1", "", 100] : ["upload-1"]
                return try connection.query("EXPLAIN QUERY PLAN \(statement)", arguments: arguments) { $0.text(3) }
            }
            // "ended" and "open" are results of a bounded search.
            let scans = plan.filter { $0.hasPrefix("SCAN") && !["SCAN ended", "SCAN open", "SCAN o"].contains($0) }
            #expect(scans.filter { $0 != "SCAN CONSTANT ROW" } == [], "\(statement)")
        }
    }
}
