import Basics
import Database
import DatabaseTesting
import Proto
import StoreProtocol
import TestSupport
import Testing

@testable import ObjectStore
@testable import Uploads

/// The messages to a server of calls that devices repeat most.
@Suite(.timeLimited, .onPostgres) struct RoundTripTests {
    private let scene: Scene
    private let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    private func put(_ number: Int, of multipart: String, _ upload: UploadRecord) throws {
        let bytes = [UInt8](repeating: UInt8(number), count: 1000)
        let claims = scene.claims(upload.id, key: upload.location.key, of: device)
        let start = scene.store.startPart(number, of: multipart, length: Int64(bytes.count))
        let access = try scene.store.decide(claims, scene.policy, part: start)
        #expect(access.decision == .allowed(partSize: Scene.partSize, needsActivity: false))
        let part = try PartUpload(
            scene.store, permit: WritePermit(claims: claims, policy: scene.policy), start: start, checks: BodyChecks())
        bytes.withUnsafeBytes(part.receive)
        #expect(try part.finish().number == number)
    }

    /// One of the header, and three of the commit: BEGIN, the rows of the upload, and the part with COMMIT.
    @Test func partHasFourRoundTrips() async throws {
        let created = try await device.create()
        try scene.touch(created.uploadID, by: device)
        let upload = try scene.record(created.uploadID)
        let claims = scene.claims(upload.id, key: upload.location.key, of: device)
        let multipart = try scene.store.initiateMultipart(
            WritePermit(claims: claims, policy: scene.policy), checksum: nil
        ).id
        let before = scene.database.roundTrips
        for number in 1...10 { try put(number, of: multipart, upload) }
        #expect(scene.database.roundTrips - before == 40)
    }

    /// One more is that of the caller's key, which is read before.
    @Test func completionHasFiveRoundTrips() async throws {
        var requests: [CompleteUploadRequest] = []
        for _ in 0..<10 {
            var request = try scene.store(try await device.create().uploadID, parts: 2)
            request.rawTags = ["a": "b", "c": "d"]
            requests.append(request)
        }
        let before = scene.database.roundTrips
        for request in requests { try await device.complete(request) }
        #expect(scene.database.roundTrips - before == 50)
    }
}
