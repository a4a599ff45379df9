import Catalog
import Database
import GatewayFormats
import ObjectStore
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

/// The complete table of CompleteUpload's comparisons and errors. Tests/Acceptance/test_upload_rules.py sends some of its rows over
/// the network.
@Suite(.timeLimited) struct CompletionTests {
    let scene: Scene
    let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    private func objects() throws -> [[String?]] {
        try scene.database.readBlocking { connection in
            try connection.query("SELECT upload_id, file_id, device_id, etag FROM objects") { row in
                [row.text(0), row.text(1), row.optionalText(2), row.text(3)]
            }
        }
    }

    /// Expects the upload to have completed with the object that is listed last, with the ETag in the store.
    private func expectCompleted(
        _ uploadID: String, etag: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try scene.record(uploadID).state == .completed, sourceLocation: sourceLocation)
        let ours = try objects().filter { $0.first == uploadID }
        #expect(ours == [[uploadID, Scene.fileID(uploadID), "260101-000001", etag]], sourceLocation: sourceLocation)
    }

    private func tags(_ uploadID: String) throws -> [String: String] {
        try scene.database.readBlocking { connection in
            let tags = try connection.query(
                """
                SELECT t.key, t.value FROM object_tags t JOIN objects o ON o.position = t.position
                WHERE o.upload_id = $1
                """, uploadID
            ) { ($0.text(0), $0.text(1)) }
            return Dictionary(uniqueKeysWithValues: tags)
        }
    }

    @Test(arguments: [0, 3]) func completedObjectIsInTheCatalog(_ parts: Int) async throws {
        let created = try await device.create()
        try scene.initiate(created.uploadID, parts: 1)
        var request = try scene.store(created.uploadID, parts: parts)
        request.rawTags = ["run": "7", "a206e337ecdf70a93bb611cf6a30c346.raw_file": "a.mcap"]
        for _ in 0..<3 { try await device.complete(request) }
        #expect(
            try objects()
                == [[created.uploadID, Scene.fileID(created.uploadID), "260101-000001", request.ossObjectEtag]])
        #expect(try tags(created.uploadID) == request.rawTags)
        #expect(try scene.snapshot(created.uploadID).multiparts.isEmpty)
    }

    static let accepted: [@Sendable (inout CompleteUploadRequest) -> Void] = [
        { $0.ossObjectEtag = $0.ossObjectEtag.lowercased() },
        { $0.ossObjectEtag = String($0.ossObjectEtag.dropFirst().dropLast()) },
        { $0.partSizeBytes = 0 },
    ]

    @Test(arguments: 0..<3) func otherSpellingsOfTheRequestCompleteTheUpload(_ change: Int) async throws {
        for parts in [0, 2] {
            let created = try await device.create()
            var request = try scene.store(created.uploadID, parts: parts)
            let etag = request.ossObjectEtag
            Self.accepted[change](&request)
            try await device.complete(request)
            try expectCompleted(created.uploadID, etag: etag)
        }
    }

    @Test(arguments: [0, 1]) func objectPutWholeCompletesAsNoPartsOrAsOne(_ count: Int32) async throws {
        let created = try await device.create()
        var request = try scene.store(created.uploadID)
        request.completedPartCount = count
        try await device.complete(request)
        try expectCompleted(created.uploadID, etag: request.ossObjectEtag)
    }

    static let disagreements: [@Sendable (inout CompleteUploadRequest) -> Void] = [
        { $0.fileSize -= 1 },
        { $0.fileSize += 1 },
        { $0.fileSize = 0 },
        { $0.ossObjectEtag = "\"00000000000000000000000000000000\"" },
        { $0.ossObjectEtag = "" },
        { $0.completedPartCount += 2 },
        { $0.partSizeBytes = 131_072 },
    ]

    @Test(arguments: 0..<7, [0, 2]) func requestThatDisagreesWithTheStoreIsRefused(_ change: Int, _ parts: Int)
        async throws
    {
        let created = try await device.create()
        let request = try scene.store(created.uploadID, parts: parts)
        var wrong = request
        Self.disagreements[change](&wrong)
        await expectRefusal(.failedPrecondition) { [wrong] in try await device.complete(wrong) }
        #expect(try objects().isEmpty)
        #expect(try scene.record(created.uploadID).state == .current)
        try await device.complete(request)
        await expectRefusal(.failedPrecondition) { [wrong] in try await device.complete(wrong) }
        try await device.complete(request)
        #expect(try objects().count == 1)
    }

    @Test func partsOfAMultipartObjectAreCounted() async throws {
        let created = try await device.create()
        var request = try scene.store(created.uploadID, parts: 1)
        request.completedPartCount = 0
        await expectRefusal(.failedPrecondition) { [request] in try await device.complete(request) }
    }

    @Test func repeatedCompletionWithOtherTagsIsRefused() async throws {
        let created = try await device.create()
        var request = try scene.store(created.uploadID)
        request.rawTags = ["a": "bc"]
        try await device.complete(request)
        request.rawTags = ["ab": "c"]
        await expectRefusal(.failedPrecondition) { [request] in try await device.complete(request) }
    }

    @Test(arguments: [
        ["": "v"], [String(repeating: "k", count: 65): "v"], [String(repeating: "é", count: 32) + "k": "v"],
        ["k": String(repeating: "v", count: 2049)], ["k": String(repeating: "é", count: 1024) + "v"],
        ["k\t": "v"], ["k": "a\nb"], ["k": "v\0"], ["k": "\u{85}"],
        Dictionary(uniqueKeysWithValues: (0..<257).map { ("key-\($0)", "") }),
    ])
    func tagsOverTheirLimitsAreRefused(_ tags: [String: String]) async throws {
        let created = try await device.create()
        var request = try scene.store(created.uploadID)
        request.rawTags = tags
        await expectRefusal(.invalidArgument) { [request] in try await device.complete(request) }
        #expect(try objects().isEmpty)
    }

    @Test(arguments: [
        [String(repeating: "é", count: 32): String(repeating: "é", count: 1024)],
        [String(repeating: "k", count: 64): String(repeating: "v", count: 2048)],
        Dictionary(uniqueKeysWithValues: (0..<256).map { ("key-\($0)", "") }),
    ])
    func tagsAtTheirLimitsAreStored(_ given: [String: String]) async throws {
        let created = try await device.create()
        var request = try scene.store(created.uploadID)
        request.rawTags = given
        try await device.complete(request)
        try expectCompleted(created.uploadID, etag: request.ossObjectEtag)
        #expect(try tags(created.uploadID) == given)
    }

    @Test func numbersBelowZeroAreRefused() async throws {
        for change: @Sendable (inout CompleteUploadRequest) -> Void in [
            { $0.fileSize = -1 }, { $0.completedPartCount = -1 }, { $0.partSizeBytes = -1 },
        ] {
            let created = try await device.create()
            var request = try scene.store(created.uploadID)
            change(&request)
            await expectRefusal(.invalidArgument) { [request] in try await device.complete(request) }
        }
    }

    @Test func completionBeforeTheObjectExistsIsRefused() async throws {
        let created = try await device.create()
        try scene.initiate(created.uploadID, parts: 1)
        await expectRefusal(.failedPrecondition) {
            try await device.complete(CompleteUploadRequest(uploadID: created.uploadID, fileSize: 1))
        }
    }

    @Test func completionOfAnAbortedUploadIsRefused() async throws {
        let created = try await device.create()
        let request = try scene.store(created.uploadID)
        try await device.abort(created.logicalUploadID)
        await expectRefusal(.failedPrecondition) { try await device.complete(request) }
    }

    @Test func twiceAtOnceIsOneObject() async throws {
        let created = try await device.create()
        let request = try scene.store(created.uploadID, parts: 2)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { [device] in try await device.complete(request) } }
            try await group.waitForAll()
        }
        #expect(try objects().count == 1)
    }
}
