import Basics
import Database
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

@Suite(.timeLimited) struct IdempotencyTests {
    private let key = ["idempotency_key": "run-7/file-3"]

    @Test func aRepeatedCallGetsTheSameUploadAndFreshCredentials() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let first = try await device.create(hints: key)
        scene.clock.advance(seconds: 3600)
        let second = try await device.create(hints: key.merging(["attempt": "2"]) { $1 })
        #expect(second.logicalUploadID == first.logicalUploadID)
        #expect(second.uploadID == first.uploadID)
        #expect(second.credentials?.objectKey == first.credentials?.objectKey)
        #expect((second.credentials?.stsExpireAtUnix ?? 0) == (first.credentials?.stsExpireAtUnix ?? 0) + 3600)
        #expect(try await device.create().uploadID != first.uploadID)
    }

    @Test func ofManyAtOnceOneMakesIt() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let key = key
        let uploads = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await device.create(hints: key).uploadID } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(uploads.count == 1)
        #expect(try scene.database.readBlocking { try $0.first("SELECT count(*) FROM uploads") { $0.int(0) } } == 1)
        #expect(try scene.rows.audit().count == 1)
    }

    @Test func eachPrincipalHasItsOwnKeysAndKeepsThemWhereItMoves() async throws {
        let scene = try Scene()
        let upload = try await scene.device(1).create(hints: key).uploadID
        #expect(try await scene.device(2).create(hints: key).uploadID != upload)
        #expect(try await scene.site(1).create(hints: key).uploadID != upload)
        let sites = [try await scene.site(1).create(hints: key), try await scene.site(2).create(hints: key)]
        #expect(sites[0].uploadID != sites[1].uploadID)
        #expect(try await scene.device(1, site: 2, key: "another").create(hints: key).uploadID == upload)
    }

    @Test func aDayLaterItIsAnother() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let first = try await device.create(hints: key).uploadID
        scene.clock.advance(seconds: 86_399)
        _ = try await device.reissue(first)
        #expect(try await device.create(hints: key).uploadID == first)
        scene.clock.advance(seconds: 1)
        let second = try await device.create(hints: key).uploadID
        #expect(second != first)
        #expect(try await device.create(hints: key).uploadID == second)
        scene.clock.advance(seconds: 86_400)
        _ = try await scene.uploads.sweep(scene.permit)
        #expect(
            try scene.database.readBlocking { try $0.first("SELECT count(*) FROM upload_idempotency") { $0.int(0) } }
                == 0)
    }

    @Test func aRestartIsRepeatedToo() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let first = try await device.create()
        let restarted = try await device.create(restartFrom: first.uploadID, hints: key)
        let again = try await device.create(restartFrom: first.uploadID, hints: key)
        #expect(again.uploadID == restarted.uploadID)
        #expect(again.logicalUploadID == first.logicalUploadID)
        await expectRefusal(.invalidArgument) { try await device.create(hints: key) }
        await expectRefusal(.invalidArgument) {
            try await device.create(restartFrom: restarted.uploadID, hints: key)
        }
    }

    @Test func anUploadThatIsOverIsNotGivenAgain() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let first = try await device.create(hints: key)
        let restarted = try await device.create(restartFrom: first.uploadID)
        await expectRefusal(.uploadNotRefreshable) { try await device.create(hints: key) }
        try await device.abort(restarted.logicalUploadID)
        await expectRefusal(.uploadNotRefreshable) { try await device.create(hints: key) }
    }

    @Test(arguments: ["", "a\nb", String(repeating: "x", count: 129)])
    func malformedIdempotencyKeyIsRefused(_ key: String) async throws {
        let scene = try Scene()
        await expectRefusal(.invalidArgument) { try await scene.device().create(hints: ["idempotency_key": key]) }
        #expect(try scene.database.readBlocking { try $0.first("SELECT count(*) FROM uploads") { $0.int(0) } } == 0)
    }
}
