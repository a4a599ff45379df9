import Accounts
import Basics
import Database
import Foundation
import GatewayAPI
import Proto
import RPC
import StoreTesting
import TestSupport
import Testing
import Wire

@testable import Catalog
@testable import DirectoryEngine
@testable import ObjectStore

@Suite(.timeLimited) struct ObjectManagementTests {
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
        // Without a trash, so that objects are deleted at once.
        for organization: Int64 in 1...2 { try scene.setTrash(days: 0, organization: organization) }
    }

    private func context(_ method: MethodDescriptor, as user: UserPrincipal? = nil) -> CallContext {
        CallContext(method: method, identity: Principal.user(user ?? scene.user()))
    }

    private func delete(_ fileID: String, reason: String = "", as user: UserPrincipal? = nil) async throws {
        _ = try await scene.management.deleteObject(
            DeleteObjectRequest(fileID: fileID, reason: reason),
            context: context(ObjectManagementServiceMethods.deleteObject, as: user))
    }

    private func setRetention(_ days: Int32, dryRun: Bool = false) async throws -> SetRetentionResponse {
        try await scene.management.setRetention(
            SetRetentionRequest(days: days, dryRun: dryRun),
            context: context(ObjectManagementServiceMethods.setRetention))
    }

    private func retention() async throws -> Int32 {
        try await scene.management.getRetention(
            GetRetentionRequest(), context: context(ObjectManagementServiceMethods.getRetention)
        ).days
    }

    @Test(.onDirectory) func aDeletedObjectIsGoneWithItsFile() async throws {
        let object = try scene.add(bytes: [1, 2, 3])
        let other = try scene.add(bytes: [4])
        try await delete(object.fileID, reason: "a person is in it")
        scene.store.work.discards.drain()
        scene.store.work.removals.drain()
        #expect(!FileManager.default.fileExists(atPath: scene.path(object.fileID)))
        #expect(FileManager.default.fileExists(atPath: scene.path(other.fileID)))
        #expect(try await scene.sizes() == [1])
        await #expect(throws: RPCError.self) { try await scene.download([object.fileID]) }
        let left = try scene.database.readBlocking { connection in
            try connection.query("SELECT deleted_by, reason, size FROM deleted_objects") {
                "\($0.text(0)): \($0.text(1)), \($0.int(2))"
            } + connection.query("SELECT file_id FROM store_objects") { $0.text(0) }
        }
        #expect(left == ["user:organization-1/boss: a person is in it, 3", other.fileID])
        #expect(
            try scene.audit() == ["user:organization-1/boss organization-1 DeleteObject objects/\(object.fileID) 1"])
    }

    @Test func aDeletionIsRepeatedInPeace() async throws {
        let object = try scene.add(bytes: [1])
        for _ in 0..<2 { try await delete(object.fileID) }
        #expect(try scene.audit().count == 1)
    }

    @Test func anothersObjectIsNotFound() async throws {
        let object = try scene.add(bytes: [1], organization: 2)
        for user in [scene.user(), scene.user(isSystem: true)] {
            let error = await #expect(throws: RPCError.self) { try await delete(object.fileID, as: user) }
            #expect(error?.status == .notFound && error?.message.contains(object.fileID) == true)
        }
        #expect(try await scene.sizes(as: scene.user(2)) == [1])
        var acting = scene.user(isSystem: true)
        acting.organization = OrganizationReference(id: 2, name: "organization-2")
        try await delete(object.fileID, as: acting)
        #expect(try await scene.sizes(as: scene.user(2)).isEmpty)
        // Records of deleted objects are also hidden from other organizations.
        await #expect(throws: RPCError.self) { try await delete(object.fileID) }
    }

    @Test func malformedFieldsAreRefused() async throws {
        let object = try scene.add(bytes: [1])
        for (id, reason) in [
            ("", ""), (String(repeating: "x", count: 129), ""), (object.fileID, String(repeating: "x", count: 513)),
            (object.fileID, "a\nb"),
        ] {
            let error = await #expect(throws: RPCError.self) { try await delete(id, reason: reason) }
            #expect(error?.detail == .invalidArgument)
        }
        for days: Int32 in [-1, 36_501] {
            let error = await #expect(throws: RPCError.self) { try await setRetention(days) }
            #expect(error?.detail == .invalidArgument)
        }
        #expect(try await scene.sizes() == [1])
    }

    @Test(.onDirectory) func aDownloadThatIsUnderWayComesToItsEnd() async throws {
        let object = try scene.add(bytes: [1, 2, 3])
        let file = try scene.store.data.open(object.fileID, for: .reading)
        try await delete(object.fileID)
        scene.store.work.discards.drain()
        scene.store.work.removals.drain()
        #expect(try file.size() == 3)
    }

    @Test(.onDirectory) func fileLeftByACrashIsSwept() async throws {
        let object = try scene.add(bytes: [1])
        // Work that the start queued is done.
        scene.store.work.removals.drain()
        // The state after a process that ended between the commit and the removal of the file.
        try await scene.database.write { try ObjectStore.discard(uploadID: object.uploadID, in: $0) }
        #expect(FileManager.default.fileExists(atPath: scene.path(object.fileID)))
        #expect(try await scene.store.sweepRemovals() == 1)
        #expect(!FileManager.default.fileExists(atPath: scene.path(object.fileID)))
        #expect(try await scene.store.sweepRemovals() == 0)
    }

    @Test func retentionDeletesWhatIsOlder() async throws {
        for size in 1...7 { try scene.add(bytes: Array(repeating: 0, count: size)) }
        try scene.add(bytes: [1], organization: 2)
        scene.clock.advance(seconds: 2 * 86_400)
        try scene.add(bytes: Array(repeating: 0, count: 10))
        #expect(try await retention() == 0)

        var dry = try await setRetention(1, dryRun: true)
        #expect(dry.examples.map(\.sizeBytes) == Array(1...7))
        dry.examples = []
        #expect(dry == SetRetentionResponse(days: 1, affectedObjects: 7, affectedBytes: 28))
        #expect(try await scene.removal.applyRetention(scene.permit) == 0)
        #expect(try await retention() == 0)

        #expect(try await setRetention(3).affectedObjects == 0)
        #expect(try await scene.removal.applyRetention(scene.permit) == 0)
        #expect(try await setRetention(1) == dry)
        #expect(try await retention() == 1)
        #expect(try await scene.removal.applyRetention(scene.permit) == 7)
        #expect(try await scene.sizes() == [10])
        #expect(try await scene.sizes(as: scene.user(2)) == [1])
        #expect(
            try scene.audit() == [
                "user:organization-1/boss organization-1 SetRetention retention/3 1",
                "user:organization-1/boss organization-1 SetRetention retention/1 1",
                "gateway organization-1 ApplyRetention retention/1 3",
                "gateway organization-1 ApplyRetention retention/1 3",
                "gateway organization-1 ApplyRetention retention/1 1",
            ])

        #expect(try await setRetention(0) == SetRetentionResponse())
        scene.clock.advance(seconds: 10 * 86_400)
        #expect(try await scene.removal.applyRetention(scene.permit) == 0)
        #expect(try await scene.sizes() == [10])
    }
}
