import Accounts
import Basics
import Capability
import Crypto
import GatewayFormats
import Proto
import RPC
import StoreProtocol
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore
@testable import Uploads

/// The results and errors of each call except CompleteUpload.
@Suite(.timeLimited) struct UploadRulesTests {
    let scene: Scene
    let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    @Test func newUploadHasLocationAndCredentials() async throws {
        let created = try await device.create()
        let credentials = try #require(created.credentials)
        #expect(created.logicalUploadID.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" })
        #expect(credentials.objectKey == "uploads/2026/01/01/\(created.uploadID)")
        #expect(credentials.bucket == "data" && credentials.endpoint == Scene.endpoint)
        #expect(credentials.objectStoreRegion.isEmpty && credentials.objectStoreBackend == "oss")
        #expect(credentials.partSizeBytes == Scene.partSize)
        #expect(credentials.stsExpireAtUnix == scene.clock.now().seconds + 3600)
        let verified = try scene.store.issuer.verify(
            accessKeyID: credentials.stsAccessKeyID, token: credentials.stsSecurityToken)
        #expect(verified.claims.uploadID == created.uploadID && verified.claims.key == credentials.objectKey)
        #expect(verified.claims.operations == [.read, .write])
        #expect(verified.secret.exposedText == credentials.stsAccessKeySecret)
    }

    @Test func aPartSizeThatTheStoreCannotPlaceIsRefusedAtStart() throws {
        for size: Int64 in [0, -4096, 61_440, 65_537] {
            var configuration = UploadsConfiguration()
            configuration.partSize = size
            #expect(throws: UploadsConfigurationError.self) { try configuration.check() }
        }
    }

    // Restart

    @Test func restartSupersedesTheAttempt() async throws {
        let first = try await device.create()
        try scene.initiate(first.uploadID, parts: 2)
        let second = try await device.create(restartFrom: first.uploadID)
        #expect(second.logicalUploadID == first.logicalUploadID && second.uploadID != first.uploadID)
        #expect(second.credentials?.objectKey != first.credentials?.objectKey)
        #expect(try scene.snapshot(first.uploadID).multiparts.isEmpty)
        #expect(try scene.decide(first.uploadID, by: device) == .noSuchUpload)
        await expectRefusal(.uploadNotRefreshable) { try await device.reissue(first.uploadID) }
        await expectRefusal(.failedPrecondition) {
            try await device.complete(CompleteUploadRequest(uploadID: first.uploadID))
        }
    }

    @Test func aSupersededIDRestartsWhatIsInForce() async throws {
        let first = try await device.create()
        let second = try await device.create(restartFrom: first.uploadID)
        let third = try await device.create(restartFrom: first.uploadID)
        #expect(third.logicalUploadID == first.logicalUploadID)
        #expect(try scene.record(second.uploadID).state == .superseded)
        #expect(try await device.recovery(first.logicalUploadID).currentUploadID == third.uploadID)
    }

    @Test func aRestartKeepsTheOwnerOfTheBeginning() async throws {
        let first = try await device.create()
        let moved = try scene.device(site: 2)
        let second = try await moved.create(restartFrom: first.uploadID)
        #expect(try scene.record(second.uploadID).owner == scene.record(first.uploadID).owner)
    }

    @Test func endedUploadIsNotRestarted() async throws {
        let (done, aborted) = (try await device.create(), try await device.create())
        try await device.complete(scene.store(done.uploadID))
        try await device.abort(aborted.logicalUploadID)
        for upload in [done, aborted] {
            await expectRefusal(.failedPrecondition) { try await device.create(restartFrom: upload.uploadID) }
        }
        await expectRefusal(.uploadNotFound) { try await device.create(restartFrom: "nonsense") }
    }

    // Ownership

    /// Each call that names an upload.
    static let calls: [@Sendable (Caller, CreateLogicalUploadResponse) async throws -> Void] = [
        { _ = try await $0.recovery($1.logicalUploadID) },
        { _ = try await $0.reissue($1.uploadID) },
        { _ = try await $0.abort($1.logicalUploadID) },
        { try await $0.complete(CompleteUploadRequest(uploadID: $1.uploadID)) },
        { _ = try await $0.create(restartFrom: $1.uploadID) },
    ]

    @Test(arguments: 0..<5) func callsOfOtherOwnersAreRefused(_ call: Int) async throws {
        let created = try await device.create()
        let neighbours = [try scene.device(2), try scene.site(1)]
        for neighbour in neighbours {
            await expectRefusal(.uploadNotOwned) { try await Self.calls[call](neighbour, created) }
        }
        for foreigner in [try scene.device(3, site: 3, organization: 2), try scene.site(3, organization: 2)] {
            await expectRefusal(.uploadNotFound) { try await Self.calls[call](foreigner, created) }
        }
        let reply = try await device.recovery(created.logicalUploadID)
        #expect(reply.nextAction == .continue && reply.currentUploadID == created.uploadID)
    }

    @Test func sitesOwnTheirsAndNoOthers() async throws {
        let created = try await scene.site(1).create()
        _ = try await scene.site(1).reissue(created.uploadID)
        for stranger in [try scene.site(2), device] {
            await expectRefusal(.uploadNotOwned) { try await stranger.reissue(created.uploadID) }
        }
    }

    @Test func theDeviceGoesOnWithANewKey() async throws {
        let created = try await device.create()
        let rotated = try scene.device(key: "another-key")
        #expect(try scene.decide(created.uploadID, by: device) == .denied)
        #expect(try await rotated.recovery(created.logicalUploadID).nextAction == .continue)
        _ = try await rotated.reissue(created.uploadID)
        #expect(
            try scene.decide(created.uploadID, by: rotated) == .allowed(partSize: Scene.partSize, needsActivity: true))
        try await rotated.complete(scene.store(created.uploadID))
    }

    @Test func aUserIsNoUploader() async throws {
        let organization = OrganizationReference(id: 1, name: "organization-1")
        let user = UserPrincipal(
            userID: 1, name: "boss", role: .admin, epoch: 1, home: organization, isSystem: false)
        let caller = try Caller(scene: scene, principal: .user(user))
        await expectRefusal(.unauthenticated) { try await caller.create() }
    }

    // Reissue

    @Test func reissueChangesTheSecretOnly() async throws {
        let created = try await device.create()
        scene.clock.advance(seconds: 100)
        let restarted = try device.at(
            scene.service {
                $0.partSize = 131_072
                $0.bucket = "another"
                $0.backend = "s3"
            })
        let (old, new) = (
            try #require(created.credentials), try #require(try await restarted.reissue(created.uploadID).credentials)
        )
        #expect(old.stsSecurityToken != new.stsSecurityToken && old.stsAccessKeySecret != new.stsAccessKeySecret)
        #expect(new.stsExpireAtUnix == old.stsExpireAtUnix + 100)
        var expected = old
        expected.stsAccessKeyID = new.stsAccessKeyID
        expected.stsAccessKeySecret = new.stsAccessKeySecret
        expected.stsSecurityToken = new.stsSecurityToken
        expected.stsExpireAtUnix = new.stsExpireAtUnix
        #expect(new == expected)
        #expect(try await restarted.recovery(created.logicalUploadID).credentialRefreshCount == 1)
        #expect(try await restarted.create().credentials?.partSizeBytes == 131_072)
    }

    @Test func reissueOfACompletedUploadOnlyReads() async throws {
        let created = try await device.create()
        try await device.complete(scene.store(created.uploadID))
        let credentials = try #require(try await device.reissue(created.uploadID).credentials)
        let claims = try scene.store.issuer.verify(
            accessKeyID: credentials.stsAccessKeyID, token: credentials.stsSecurityToken
        ).claims
        #expect(claims.operations == .read)
        #expect(try scene.decide(created.uploadID, by: device) == .readOnly(needsActivity: false))
    }

    @Test func noCredentialsAfterTheEnd() async throws {
        let created = try await device.create()
        try await device.abort(created.logicalUploadID)
        await expectRefusal(.uploadNotRefreshable) { try await device.reissue(created.uploadID) }
        await expectRefusal(.uploadNotFound) { try await device.reissue("nonsense") }
    }

    // Abort

    @Test func abortIsIdempotentAndRemovesWhatWasStored() async throws {
        let created = try await device.create()
        try scene.initiate(created.uploadID, parts: 2)
        try scene.store(created.uploadID, parts: 1)
        for reason in ["first", "second"] {
            let reply = try await device.abort(created.logicalUploadID, reason: reason)
            #expect(reply.logicalUploadID == created.logicalUploadID && reply.uploadID == created.uploadID)
        }
        let snapshot = try scene.snapshot(created.uploadID)
        #expect(snapshot.multiparts.isEmpty && snapshot.object == nil)
        #expect(try scene.record(created.uploadID).abortReason == "first")
        #expect(try scene.decide(created.uploadID, by: device) == .noSuchUpload)
    }

    @Test func abortOfACompletedUploadChangesNothing() async throws {
        let created = try await device.create()
        try await device.complete(scene.store(created.uploadID, parts: 2))
        let before = try scene.record(created.uploadID)
        try await device.abort(created.logicalUploadID)
        #expect(try scene.record(created.uploadID) == before)
        #expect(try scene.snapshot(created.uploadID).object != nil)
    }

    @Test func abortOfAnUnknownUploadIsRefused() async throws {
        await expectRefusal(.uploadNotFound) { try await device.abort("nonsense") }
    }

    @Test(arguments: [
        ("", "aborted by the client"), ("a\nb\u{0}c", "abc"),
        (String(repeating: "é", count: 600), String(repeating: "é", count: 512)),
    ])
    func noReasonIsRefused(_ sent: String, _ kept: String) async throws {
        let created = try await device.create()
        try await device.abort(created.logicalUploadID, reason: sent)
        #expect(try await device.recovery(created.logicalUploadID).terminalReason == kept)
    }

    /// Below the limit of free disk space no upload can begin, and uploads in progress continue.
    @Test func noUploadBeginsWithoutSpace() async throws {
        let free = Lock<Int64>(1000)
        var configuration = ObjectStoreConfiguration()
        configuration.minimumFreeBytes = 1000
        var files = DirectoryConfiguration()
        files.freeBytes = { _ in free.withLock { $0 } }
        let scene = try Scene(store: configuration, files: files)
        let device = try scene.device()
        let under = try await device.create(hints: ["idempotency_key": "known"])
        free.withLock { $0 = 999 }
        scene.clock.advance(seconds: 1)
        await expectRefusal(.stsUnavailable) { try await device.create() }
        await expectRefusal(.stsUnavailable) { try await device.create(hints: ["idempotency_key": "new"]) }
        #expect(try await device.create(hints: ["idempotency_key": "known"]).uploadID == under.uploadID)
        _ = try await device.reissue(under.uploadID)
        await expectRefusal(.stsUnavailable) { try await device.create(restartFrom: under.uploadID) }
        #expect(try scene.record(under.uploadID).state == .current)
        free.withLock { $0 = 1000 }
        scene.clock.advance(seconds: 1)
        _ = try await device.create(restartFrom: under.uploadID)
    }
}
