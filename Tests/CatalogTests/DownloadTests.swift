import Basics
import Database
import GRPCWire
import GatewayAPI
import Proto
import RPC
import StoreProtocol
import TestSupport
import Testing

@testable import Catalog
@testable import ObjectStore

@Suite(.timeLimited) struct DownloadTests {
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    @Test func locationsComeInTheOrderOfTheRequest() async throws {
        let ids = try (1...3).map { try scene.add(size: $0).fileID }
        let wanted = [ids[1], ids[2], ids[0]]
        let reply = try await scene.download(wanted)
        #expect(reply.files.map(\.fileID) == wanted)
        #expect(reply.files.allSatisfy { $0.read?.method == "GET" })
        #expect(reply.files.allSatisfy { $0.read?.uri.hasPrefix("http://127.0.0.1:50080/data/uploads/") == true })
        #expect(reply.expiresAtUnix == scene.clock.now().seconds + 900)
        #expect(reply.largeFileThresholdBytes > 0 && reply.rangePartSizeBytes > 0)
    }

    @Test func invisibleFileIsNotFoundAndNamed() async throws {
        let (ours, theirs) = (try scene.add(size: 1).fileID, try scene.add(size: 2, organization: 2).fileID)
        for hidden in ["no-such-file", theirs] {
            let error = await #expect(throws: RPCError.self) { try await scene.download([ours, hidden]) }
            #expect(error?.status == .notFound && error?.detail == nil)
            #expect(error?.message.contains(hidden) == true)
        }
        #expect(try await scene.download([ours, theirs], as: scene.user(1, isSystem: true)).files.count == 2)
    }

    @Test func malformedFileIDsAreRefused() async throws {
        let id = try scene.add(size: 1).fileID
        for ids in [[], [""], [id, ""], [id, id], [String(repeating: "x", count: 129)], (0...1000).map { "\($0)" }] {
            let error = await #expect(throws: RPCError.self) { try await scene.download(ids) }
            #expect(error?.detail == .invalidArgument)
        }
    }

    private func decide(_ object: CatalogObject, user: Int64 = 1, epoch: Int64 = 1) throws -> AccessDecision {
        let claims = CredentialClaims(
            uploadID: object.uploadID, bucket: object.content.bucket, key: object.content.key, operations: .read,
            expiresAt: scene.clock.now().adding(seconds: 60), holder: .init(.user(id: user, epoch: epoch), of: 1))
        return try scene.database.readBlocking { try UserAccessPolicy().decide(claims, in: $0) }
    }

    @Test func aURLDiesWithItsUserAndItsObject() throws {
        let object = try scene.add(size: 1)
        #expect(try decide(object) == .readOnly(needsActivity: false))
        #expect(try decide(object, epoch: 2) == .denied)
        #expect(try decide(object, user: 9) == .denied)
        try scene.database.writeBlocking { _ = try $0.execute("DELETE FROM objects") }
        #expect(try decide(object) == .noSuchUpload)
    }
}
