import Basics
import Database
import DatabaseTesting
import HTTPTestClient
import StoreProtocol
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore

/// The limit of open multipart uploads of one upload.
@Suite(.timeLimited) struct OpenMultipartsTests {
    private let test: TestStore
    private let client: StoreClient

    init() throws {
        test = try TestStore(inMemory: true)
        client = test.client()
    }

    private func open() throws -> [String] { try test.snapshot().multiparts.map(\.id) }

    @Test func oneTooManyEndsTheOldestWithoutParts() throws {
        let first = try client.initiate()
        #expect(try client.part(1, of: first, content(10)).status == 200)
        var others: [String] = []
        for _ in 0..<100 {
            test.clock.advance(seconds: 1)
            others.append(try client.initiate())
        }
        #expect(try open() == [first] + others.suffix(ObjectStore.maximumOpen - 1))
        #expect(try client.part(1, of: others[0], content(10)).error == "404 NoSuchUpload")
        #expect(try client.completeAll(first).status == 200)
        #expect(try test.files().count == ObjectStore.maximumOpen)
    }

    /// A client that begins another one after each restart, and stores something each time, can always finish.
    @Test func oldestUploadEndsWhereAllHaveParts() throws {
        var ids: [String] = []
        for _ in 0..<20 {
            test.clock.advance(seconds: 1)
            ids.append(try client.initiate())
            #expect(try client.part(1, of: ids[ids.count - 1], content(10)).status == 200)
        }
        #expect(try open() == ids.suffix(ObjectStore.maximumOpen))
        #expect(try client.completeAll(ids[19]).status == 200)
        #expect(try client.get() == content(10))
    }

    @Test func otherUploadsKeepTheirs() throws {
        let other = test.client(uploadID: "upload-2")
        let id = try other.initiate()
        for _ in 0..<20 { _ = try client.initiate() }
        #expect(try other.part(1, of: id, content(10)).status == 200)
        #expect(try other.completeAll(id).status == 200)
    }

    @Test func excessUploadsOfAnOlderVersionEndInSteps() throws {
        let claims = client.claims
        try test.database.writeBlocking { connection in
            _ = try connection.execute(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                INSERT INTO store_multiparts (id, upload_id, bucket, object_key, file_id, part_size, created_at)
                SELECT 'old-' || i, $1, $2, $3, \(DatabaseEngine.randomFileID), 65536, i FROM n
                """, claims.uploadID, claims.bucket, claims.key)
        }
        _ = try client.initiate()
        #expect(try open().count == 101 - ObjectStore.maximumEvicted)
        for _ in 0..<10 { _ = try client.initiate() }
        #expect(try open().count == ObjectStore.maximumOpen)
    }
}
