import Basics
import Database
import DatabaseTesting
import GatewayFormats
import GatewayTesting
import ObjectStore
import Proto
import TestSupport
import Testing

@testable import Uploads

/// A completed upload in a database that is older than its completion.
@Suite(.timeLimited) struct ReadoptionTests {
    private let newer: Scene
    private let older: Scene

    init() throws {
        newer = try Scene()
        older = try Scene()
    }

    /// Completes an upload at the newer gateway.
    ///
    /// - Returns: the request, and the facts beside the file.
    private func completed(parts: Int = 2, by caller: Caller) async throws -> (CompleteUploadRequest, ObjectFacts) {
        let created = try await caller.create()
        var request = try newer.store(created.uploadID, parts: parts)
        request.rawTags = ["run": "7", "a206e337ecdf70a93bb611cf6a30c346.raw_file": "a.mcap"]
        try await caller.complete(request)
        let fileID = try #require(try newer.snapshot(created.uploadID).object?.fileID)
        return (request, try #require(newer.store.facts(of: fileID).flatMap { ObjectFacts($0) }))
    }

    private func readopt(_ facts: ObjectFacts) throws {
        try older.database.writeBlocking { try Readoption(facts).perform(in: $0) }
    }

    /// Inserts the upload into the older database, in the state in which it began.
    private func begin(_ request: CompleteUploadRequest) throws -> UploadRecord {
        var upload = try newer.record(request.uploadID)
        upload.state = .current
        upload.completed = nil
        try older.database.writeBlocking { [upload] connection in
            let records = UploadRecords(connection)
            try records.insertLogicalUpload(of: upload)
            try records.insert(upload)
        }
        return upload
    }

    private func listed(_ scene: Scene) throws -> [String] {
        let texts = DatabaseEngine.choose(
            sqlite: "group_concat(key || '=' || value)", postgres: "string_agg(key || '=' || value, ',' ORDER BY key)")
        return try scene.database.readBlocking { connection in
            try connection.query(
                """
                SELECT o.id, o.file_id, o.upload_id, o.size, o.etag, o.created_at, o.uploaded_at, o.verified_at,
                    o.organization_id, o.site_id, o.suite_id, o.device_id, o.bucket, o.object_key,
                    (SELECT \(texts) FROM object_tags t WHERE t.position = o.position)
                FROM objects o ORDER BY o.position
                """
            ) { row in (0..<15).map { row.text(Int32($0)) }.joined(separator: "|") }
        }
    }

    private func usage(_ scene: Scene) throws -> Usage {
        try scene.database.readBlocking { try UsageRecords($0).usage(device: "260101-000001") }
    }

    @Test(arguments: [0, 2], [false, true])
    func readoptedObjectIsAsItWas(parts: Int, isBegun: Bool) async throws {
        let (request, facts) = try await completed(parts: parts, by: try newer.device())
        if isBegun {
            let upload = try begin(request)
            if parts > 0 { try older.initiate(upload.id, parts: 1) }
        }
        for _ in 0..<2 { try readopt(facts) }
        #expect(try listed(older) == listed(newer))
        #expect(try older.snapshot(request.uploadID) == newer.snapshot(request.uploadID))
        #expect(try usage(older) == usage(newer))
        // If its client asks again, it gets the same responses.
        let device = try older.device()
        let recovery = try await device.recovery(try newer.record(request.uploadID).logicalID)
        #expect(recovery.logicalUploadStatus == .completed && recovery.ossObjectEtag == request.ossObjectEtag)
        try await device.complete(request)
        await expectRefusal(.failedPrecondition) {
            var other = request
            other.rawTags = ["run": "8"]
            try await device.complete(other)
        }
    }

    @Test func anAttemptThatTookItsPlaceGoes() async throws {
        let (request, facts) = try await completed(by: try newer.device())
        let upload = try begin(request)
        let restarted = try await older.device().create(restartFrom: upload.id)
        try older.store(restarted.uploadID)
        try readopt(facts)
        #expect(try older.record(restarted.uploadID).state == .superseded)
        #expect(try older.record(upload.id).state == .completed)
        #expect(try older.snapshot(restarted.uploadID).object == nil)
        let recovery = try await older.device().recovery(upload.logicalID)
        #expect(recovery.currentUploadID == upload.id && recovery.nextAction == .completeOnly)
    }

    @Test func laterCompletionOfTheClientStays() async throws {
        let (request, facts) = try await completed(by: try newer.device())
        let upload = try begin(request)
        let device = try older.device()
        let restarted = try await device.create(restartFrom: upload.id)
        try await device.complete(try older.store(restarted.uploadID))
        try readopt(facts)
        #expect(try older.record(restarted.uploadID).state == .completed)
        #expect(try older.record(upload.id).state == .superseded)
        #expect(try listed(older).count == 2)
    }

    @Test func withoutItsOrganizationItIsRefusedAndNothingIsWritten() async throws {
        let (_, facts) = try await completed(by: try newer.device(site: 3, organization: 2))
        try older.rows.deleteOrganization(2)
        #expect(throws: Readoption.Refusal.unknownOrganization(2)) { try readopt(facts) }
        #expect(try listed(older).isEmpty)
    }

    @Test func factsAreReadInTheirFormatOnDisk() throws {
        // Written by an earlier version: it has to be readable as long as its file exists.
        let text = """
            {"backend":"oss","bucket":"b","content_type":null,"crc64":18446744073709551615,"created_at":1,\
            "device_id":"260101-000001","endpoint":"http://127.0.0.1:50080","etag":"\\"AB-2\\"",\
            "file_id":"00112233445566778899aabbccddeeff","is_restart":false,"logical_upload_id":"l","multipart_id":"M",\
            "object_id":"o","object_key":"k","organization_id":1,"part_count":2,"part_size":65536,"region":"",\
            "session_ends_at":4,"site_id":1,"size":70000,"stored_at":2,"suite_id":1,\
            "tags":{"a206e337ecdf70a93bb611cf6a30c346.raw_file":"a.mcap"},"upload_id":"u","verified_at":3}
            """
        let facts = try #require(ObjectFacts(Array(text.utf8)))
        #expect(facts.fileName == "a.mcap" && facts.completedAt == UnixTime(microseconds: 3))
        #expect(facts.isOf(fileID: "00112233445566778899aabbccddeeff", size: 70_000))
        #expect(!facts.isOf(fileID: "00112233445566778899aabbccddeeff", size: 70_001))
        #expect(
            String(decoding: try facts.encoded, as: UTF8.self)
                == text.replacing("\"content_type\":null,", with: ""))
        #expect(ObjectFacts(Array(text.utf8.dropLast())) == nil)
    }
}
