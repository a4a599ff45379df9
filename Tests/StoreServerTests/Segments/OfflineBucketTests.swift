import Basics
import Crypto
import Database
import DatabaseTesting
import HTTPTestClient
import StoreClient
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3Engine

/// The bucket of a stopped gateway, and the repair of a database that is older.
@Suite(.timeLimited) struct OfflineBucketTests {
    /// A completed upload.
    private struct Completed {
        let object: StoredObject
        let bytes: [UInt8]

        var file: StoredFile { StoredFile(fileID: object.fileID, size: object.size, crc64: object.crc64) }
    }

    private let scene: BucketScene

    init() throws {
        scene = try BucketScene()
    }

    private func complete(
        _ gateway: BucketScene.Gateway, _ uploadID: String, parts: Int
    ) async throws -> Completed {
        let client = gateway.store.client(uploadID: uploadID)
        let pieces = (0..<max(1, parts)).map { content(65_536, seed: UInt64($0 + 7)) }
        if parts == 0 {
            #expect(try client.put(pieces[0]).status == 200)
        } else {
            let id = try client.initiate()
            for (index, piece) in pieces.enumerated() {
                #expect(try client.part(index + 1, of: id, piece).status == 200)
            }
            #expect(try client.completeAll(id).status == 200)
        }
        let object = try #require(try gateway.store.snapshot(uploadID).object)
        try await gateway.store.store.describe(object.fileID, Array("facts of \(uploadID)".utf8))
        // After its segments were merged.
        _ = try gateway.store.files()
        return Completed(object: object, bytes: Array(pieces.joined()))
    }

    /// Makes a database `old` without the last uploads.
    private func age(_ gateway: BucketScene.Gateway) async throws {
        try await gateway.store.database.copy(to: "\(scene.folder.path)/old")
    }

    private func readopt(_ upload: Completed, isQuarantined: Bool = false, _ database: Database) throws {
        let bucket = try scene.bucket.offline(scene.register)
        try bucket.readopt(upload.file, isQuarantined: isQuarantined, database) { [object = upload.object] in
            try ObjectStore.adopt(object, partSize: TestStore.partSize, in: $0)
        }
    }

    private func findings(_ database: Database, checksums: Bool = false) throws -> [StoreFinding] {
        var found: [StoreFinding] = []
        let bucket = try scene.bucket.offline(scene.register)
        try database.readBlocking { try bucket.compare(with: $0, checksums: checksums) { found.append($0) } }
        return found
    }

    private func path(_ fileID: String, _ kind: String = "data") -> String {
        "gateway/\(kind)/\(fileID.prefix(2))/\(fileID)"
    }

    @Test func documentIsReadAsItWasWritten() {
        let segments = (1...3).map { number in
            NumberedSegment(
                number, Segment(Random.hex(16), FileContent(size: Int64(number), crc64: .max - 1)))
        }
        let document = FactsDocument(Array(#"{"a":"b"}"#.utf8), segments)
        #expect(FactsDocument(document.bytes) == document && document.size == 6)
        #expect(FactsDocument(Array(document.bytes.dropLast(3))) == nil)
        #expect(FactsDocument(Array(#"{"a":"b"}"#.utf8)) == nil)
        #expect(FactsDocument(FactsDocument([], []).bytes) == FactsDocument([], []))
    }

    /// Databases that lack uploads are copies of SQLite files here; on a server, they are restored by its own means.
    @Test(.onSQLite, arguments: [0, 1, 3]) func uploadThatTheDatabaseLacksIsReadopted(parts: Int) async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1", parts: 2)
        try await age(gateway)
        let upload = try await complete(gateway, "upload-2", parts: parts)
        gateway.store.store.close()
        let old = try scene.start("old")
        defer { withExtendedLifetime(old) {} }
        #expect(old.state == .diverged(.older))
        let database = old.store.database
        let bucket = try scene.bucket.offline(scene.register)
        #expect(try !database.readBlocking { try bucket.belongs(to: $0) })
        #expect(try database.readBlocking { try bucket.lacking($0) } == [upload.object.fileID])
        #expect(bucket.facts(of: upload.object.fileID) == Array("facts of upload-2".utf8))
        // Something is still missing.
        try bucket.finishReadoption(database)
        #expect(try !database.readBlocking { try bucket.belongs(to: $0) })
        for _ in 1...2 { try readopt(upload, database) }
        try bucket.finishReadoption(database)
        #expect(try database.readBlocking { try bucket.belongs(to: $0) })
        #expect(try findings(database, checksums: true).isEmpty)
        let repaired = try scene.start("old")
        #expect(repaired.state == .matching)
        #expect(try repaired.store.client(uploadID: "upload-2").get() == upload.bytes)
        #expect(try repaired.store.files().count == 2)
        // The newest database is another one's from now on.
        #expect(try scene.start().state == .diverged(.otherHistory))
    }

    /// The database has the beginning of the multipart upload, with a part that was replaced later.
    @Test(.onSQLite) func uploadInProgressIsReadopted() async throws {
        let gateway = try scene.start()
        let client = gateway.store.client()
        let id = try client.initiate()
        #expect(try client.part(1, of: id, content(65_536, seed: 1)).status == 200)
        #expect(try client.part(3, of: id, content(65_536, seed: 3)).status == 200)
        try await age(gateway)
        let parts = [(1, content(65_536, seed: 5)), (2, content(100, seed: 6))]
        for (number, part) in parts { #expect(try client.part(number, of: id, part).status == 200) }
        let listed = parts.map { ($0.0, "\"\(Hex.upper(Digest.md5($0.1)))\"") }
        #expect(try client.complete(id, listed).status == 200)
        let object = try #require(try gateway.store.snapshot().object)
        try await gateway.store.store.describe(object.fileID, Array("facts".utf8))
        #expect(try gateway.store.files().count == 1)
        gateway.store.store.close()
        let old = try scene.start("old")
        defer { withExtendedLifetime(old) {} }
        let upload = Completed(object: object, bytes: Array(parts.map(\.1).joined()))
        try readopt(upload, old.store.database)
        try scene.bucket.offline(scene.register).finishReadoption(old.store.database)
        let repaired = try scene.start("old")
        #expect(repaired.state == .matching)
        #expect(try repaired.store.client().get() == upload.bytes)
    }

    @Test func uploadsOfAnotherStoreAreNotReadopted() async throws {
        let gateway = try scene.start()
        _ = try await complete(gateway, "upload-1", parts: 0)
        gateway.store.store.close()
        let database = gateway.store.database
        let bucket = try scene.bucket.offline(scene.register)
        #expect(try database.readBlocking { try bucket.permitsReadoption(to: $0) })
        _ = try database.writeBlocking { try $0.execute("UPDATE store_identity SET id = 'another'") }
        #expect(try !database.readBlocking { try bucket.permitsReadoption(to: $0) })
        #expect(try bucket.reconcile(database) { _, _ in true } == nil)
        try bucket.finishReadoption(database)
        #expect(try !database.readBlocking { try bucket.belongs(to: $0) })
    }

    @Test(.onSQLite) func damagedBytesAreNotReadopted() async throws {
        let gateway = try scene.start()
        try await age(gateway)
        let upload = try await complete(gateway, "upload-1", parts: 0)
        _ = try await scene.bucket.client().put(path(upload.object.fileID), content(65_536, seed: 99))
        let old = try scene.start("old")
        defer { withExtendedLifetime(old) {} }
        let database = old.store.database
        #expect(throws: ReadoptionError.self) { try readopt(upload, database) }
        #expect(try database.readBlocking { try StoreRecords($0).layout(of: upload.object.fileID) } == nil)
    }

    @Test func lostSegmentsAndStrayOnesAreReported() async throws {
        let gateway = try scene.start()
        let first = try await complete(gateway, "upload-1", parts: 0)
        let second = try await complete(gateway, "upload-2", parts: 3)
        let third = try await complete(gateway, "upload-3", parts: 0)
        let stray = try scene.leaveSegment(try scene.start(), uploadID: "upload-4")
        let unknown = try scene.leaveSegment(try scene.start(), uploadID: "upload-5")
        scene.set("upload-4", .ended)
        let segments = try gateway.store.database.readBlocking { connection in
            let records = StoreRecords(connection)
            return try records.segments(of: #require(try records.layout(of: second.object.fileID)))
        }
        try await scene.bucket.client().delete(path(segments[0].segment.id))
        _ = try await scene.bucket.client().put(path(third.object.fileID), content(65_536, seed: 99))
        let found = try findings(gateway.store.database, checksums: true)
        #expect(
            Set(found.map { "\($0)" })
                == Set(
                    [
                        StoreFinding.missing(second.file), .damaged(third.file), .stray(fileID: stray, size: 1000),
                        .unknown(fileID: unknown, size: 1000),
                    ].map { "\($0)" }))
        #expect(first.object.size == 65_536)
    }

    @Test(.onSQLite) func reconciledUploadIsQuarantinedUntilItIsReadopted() async throws {
        let gateway = try scene.start()
        try await age(gateway)
        let upload = try await complete(gateway, "upload-1", parts: 2)
        let old = try scene.start("old")
        defer { withExtendedLifetime(old) {} }
        let database = old.store.database
        let bucket = try scene.bucket.offline(scene.register)
        #expect(try bucket.reconcile(database) { _, _ in true } == 1)
        #expect(try database.readBlocking { try bucket.lacking($0) }.isEmpty)
        #expect(
            try database.readBlocking { try bucket.quarantined($0) }.map(\.fileID) == [upload.object.fileID])
        #expect(try scene.start("old").state == .matching)
        try readopt(upload, isQuarantined: true, database)
        #expect(try database.readBlocking { try bucket.quarantined($0) }.isEmpty)
        #expect(try scene.bucket.keys().contains(path(upload.object.fileID, "facts")))
        let repaired = try scene.start("old")
        #expect(try repaired.store.client().get() == upload.bytes)
    }

    /// A database from before the merge has the segments that were removed since.
    @Test(.onSQLite) func mergedSegmentsReplaceThoseOfAnOlderDatabase() async throws {
        let gateway = try scene.start()
        gateway.store.store.stopBackgroundWork()
        let upload = try await complete(gateway, "upload-1", parts: 5)
        try await age(gateway)
        #expect(try scene.dataKeys().count == 5)
        let merged = try scene.start()
        #expect(try merged.store.files().count == 1)
        #expect(try scene.dataKeys().count == 1)
        let old = try scene.start("old")
        defer { withExtendedLifetime((merged, old)) {} }
        try scene.bucket.offline(scene.register).finishReadoption(old.store.database)
        #expect(try old.store.client().get() == upload.bytes)
    }

    @Test(.onSQLite) func quarantineIsEmptiedByAnOperatorOnly() async throws {
        let gateway = try scene.start()
        let kept = try await complete(gateway, "upload-1", parts: 0)
        try await age(gateway)
        let upload = try await complete(gateway, "upload-2", parts: 2)
        let segment = try scene.leaveSegment(try scene.start(), uploadID: "upload-3")
        let old = try scene.start("old")
        defer { withExtendedLifetime(old) {} }
        let database = old.store.database
        let bucket = try scene.bucket.offline(scene.register)
        #expect(try bucket.reconcile(database) { _, _ in true } == 1)
        let repaired = try scene.start("old")
        #expect(repaired.state == .matching)
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(repaired) == KeySweep.Result(quarantined: 2))
        #expect(try !bucket.deleteQuarantined(kept.object.fileID) { database })
        #expect(try bucket.deleteQuarantined(upload.object.fileID) { database })
        #expect(try bucket.deleteQuarantined(segment) { database })
        #expect(try !bucket.deleteQuarantined(segment) { database })
        #expect(try scene.dataKeys() == [path(kept.object.fileID)])
        #expect(try database.readBlocking { try bucket.quarantined($0) }.isEmpty)
    }
}
