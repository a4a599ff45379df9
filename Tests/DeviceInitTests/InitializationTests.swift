import Accounts
import Basics
import Database
import GRPCWire
import GatewayAPI
import GatewayTesting
import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing

@testable import DeviceInit

@Suite(.timeLimited) struct InitializationTests {
    private let id = "260427-000001"

    @Test func anInitGivesAKeyThatWorksAndTheTags() async throws {
        let world = try await World()
        try await world.register(id, tags: ["fleet": "a", "line": "7"])
        let reply = try await world.initialize(id)
        #expect(reply.tags == ["fleet": "a", "line": "7"])
        let exchanged = try await world.exchange(reply.apiKey)
        let owner = try #require(try world.upload(exchanged.accessToken))
        #expect((owner.deviceID, owner.siteID) == (id, world.site))
        let device = try await world.device(id)
        #expect(device.status == .initialized)
        #expect((device.sdkVersion, device.platform) == ("1.2.3", "linux/arm64"))
        #expect(device.initializedAt == Timestamp(world.clock.now()))
        #expect(try world.audit().last == "nobody InitDevice devices/\(id) 203.0.113.9 OK 1")
    }

    @Test func ofAHundredAtOnceExactlyOneSucceeds() async throws {
        let world = try await World()
        try await world.register(id)
        let id = id
        let outcomes = await withTaskGroup(of: DetailCode?.self) { group in
            for _ in 0..<100 { group.addTask { await refusal { _ = try await world.initialize(id) }?.detail } }
            return await group.reduce(into: [DetailCode?]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .deviceAlreadyInitialized }.count == 99)
        #expect(try world.rows.keyCount(organization: 1) == 1)
    }

    @Test(arguments: [
        "", "260427000001", "260427-00001", "260427-0000011", "26042a-000001", "２６0427-000001", "260427_000001",
    ])
    func malformedIDs(_ id: String) async throws {
        let world = try await World()
        #expect(await refusal { _ = try await world.initialize(id) }?.detail == .deviceIDInvalid)
        #expect(await refusal { _ = try await world.reinitialize(id) }?.detail == .deviceIDInvalid)
    }

    @Test func everyRefusalInItsOrder() async throws {
        let world = try await World()
        func refusals() async -> [DetailCode?] {
            [
                await refusal { _ = try await world.initialize(id) }?.detail,
                await refusal { _ = try await world.reinitialize(id) }?.detail,
            ]
        }
        #expect(await refusals() == [.deviceNotFound, .deviceNotFound])
        try await world.register(id)
        try await world.remove(id, from: world.suite)
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
        try await world.add(id, to: world.suite)
        #expect(await refusal { _ = try await world.reinitialize(id) }?.detail == .deviceNotInitialized)
        try await world.disable(id)
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
        try await world.enable(id)
        try await world.setSite(enabled: false)
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
        try await world.setSite(enabled: true)
        _ = try await world.initialize(id)
        #expect(await refusal { _ = try await world.initialize(id) }?.detail == .deviceAlreadyInitialized)

        let keyID = try await world.adminService.listApiKeys(
            ListApiKeysRequest(deviceID: id), context: world.call(AdminAuthServiceMethods.listApiKeys)
        ).apiKeys[0].apiKeyID
        _ = try await world.adminService.disableApiKey(
            DisableApiKeyRequest(apiKeyID: keyID), context: world.call(AdminAuthServiceMethods.disableApiKey))
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
        _ = try await world.adminService.enableApiKey(
            EnableApiKeyRequest(apiKeyID: keyID), context: world.call(AdminAuthServiceMethods.enableApiKey))
        try await world.disable(id)
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
        try await world.enable(id)
        try await world.setSite(enabled: false)
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
        try await world.setSite(enabled: true)
        _ = try await world.reinitialize(id)
        try await world.database.write { [id] connection in
            try AccountChange.keyDeleted.apply(device: id, organization: 1, in: connection)
        }
        #expect(await refusals() == [.deviceNotReady, .deviceNotReady])
    }

    @Test func aReinitEndsTheOldKeyWithTheNextCall() async throws {
        let world = try await World()
        try await world.register(id)
        let old = try await world.initialize(id).apiKey
        let oldToken = try await world.exchange(old).accessToken
        world.clock.advance(seconds: 5)
        let new = try await world.reinitialize(id)
        #expect(await refusal { _ = try await world.exchange(old) }?.detail == .authInvalidCredential)
        #expect(await refusal { _ = try world.upload(oldToken) }?.detail == .unauthenticated)
        #expect(try world.upload(try await world.exchange(new.apiKey).accessToken)?.deviceID == id)
        let device = try await world.device(id)
        #expect(device.sdkVersion == "1.2.4")
        #expect(device.initializedAt == Timestamp(world.clock.now().adding(seconds: -5)))
        #expect(device.lastSeenAt == Timestamp(world.clock.now()))
    }

    /// The steps of a device that did not receive the response with its key.
    @Test func anInitWhoseReplyWasLostIsMendedByAReinit() async throws {
        let world = try await World()
        try await world.register(id)
        _ = try await world.initialize(id)
        #expect(await refusal { _ = try await world.initialize(id) }?.detail == .deviceAlreadyInitialized)
        _ = try await world.exchange(try await world.reinitialize(id).apiKey)
    }

    @Test func aDeviceThatIsDisabledOrUnboundIsStoppedWithTheNextCall() async throws {
        let world = try await World()
        try await world.register(id)
        let key = try await world.initialize(id).apiKey
        var token = try await world.exchange(key).accessToken
        _ = try world.upload(token)

        try await world.disable(id)
        #expect(await refusal { _ = try world.upload(token) }?.detail == .unauthenticated)
        #expect(await refusal { _ = try await world.exchange(key) }?.detail == .authKeyDisabled)
        try await world.enable(id)
        #expect(await refusal { _ = try world.upload(token) }?.detail == .unauthenticated)
        token = try await world.exchange(key).accessToken
        _ = try world.upload(token)

        try await world.remove(id, from: world.suite)
        #expect(await refusal { _ = try world.upload(token) }?.detail == .unauthenticated)
        #expect(await refusal { _ = try await world.exchange(key) }?.detail == .authKeyDisabled)
        try await world.disable(id)
        try await world.enable(id)
        #expect(await refusal { _ = try await world.exchange(key) }?.detail == .authKeyDisabled)
        let (south, southSuite) = try await world.createPlace("south", token: world.admin)
        try await world.add(id, to: southSuite)
        let moved = try await world.exchange(key)
        #expect(try world.upload(moved.accessToken)?.siteID == south)
    }

    @Test func tagsOverTheLimitFailBeforeAnythingIsRotated() async throws {
        let world = try await World()
        try await world.register(id)
        let key = try await world.initialize(id).apiKey
        let token = try await world.exchange(key).accessToken
        let tags = (0..<193).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
        try await world.database.write { _ = try $0.execute("UPDATE devices SET tags = $1", "{\(tags)}") }
        #expect(await refusal { _ = try await world.reinitialize(id) }?.detail == .failedPrecondition)
        _ = try world.upload(token)
        _ = try await world.exchange(key)
    }

    @Test func walkingThroughIDsIsLimitedAndRobotsBehindOneAddressAreNot() async throws {
        let world = try await World { $0.unknownIDsOfAddress = 5 }
        for index in 0..<200 { try await world.register("260427-\(100_000 + index)") }
        var keys: [String] = []
        for index in 0..<200 {
            keys.append(try await world.initialize("260427-\(100_000 + index)", host: "198.51.100.1").apiKey)
        }
        for _ in 0..<20 {
            let error = await refusal { _ = try await world.initialize("260427-000009") }
            #expect(error?.detail == .deviceNotFound)
        }
        for index in 0..<4 {
            let error = await refusal { _ = try await world.initialize("260427-00001\(index)") }
            #expect(error?.detail == .deviceNotFound)
        }
        for id in ["260427-000020", "260427-100000"] {
            let limited = await refusal { _ = try await world.initialize(id) }
            #expect(limited?.detail == .rateLimited)
            #expect(limited?.status == .unavailable)
            #expect(limited?.retryAfterMilliseconds == 12_000)
        }
        for key in keys { _ = try await world.exchange(key, host: "198.51.100.1") }
        let other = await refusal { _ = try await world.initialize("260427-000020", host: "198.51.100.1") }
        #expect(other?.detail == .deviceNotFound)
        world.clock.advance(seconds: 61)
        _ = await refusal { _ = try await world.initialize("260427-000020") }
        try await world.database.write { _ in }
        let denials = try world.audit().filter { $0.contains("/24") }
        #expect(
            denials.sorted() == [
                "nobody InitDevice  198.51.100.0/24 DATA_GATEWAY_DEVICE_NOT_FOUND 1",
                "nobody InitDevice  203.0.113.0/24 DATA_GATEWAY_DEVICE_NOT_FOUND 25",
                "nobody InitDevice  203.0.113.0/24 DATA_GATEWAY_RATE_LIMITED 2",
            ])
    }

    @Test func unknownIDsOfANeighborDoNotKeepADeviceFromItsFirstKey() async throws {
        let world = try await World { $0.unknownIDsOfAddress = 5 }
        try await world.register(id)
        for index in 0..<49 { _ = await refusal { _ = try await world.initialize("260427-\(200_000 + index)") } }
        let key = try await world.initialize(id).apiKey
        _ = try await world.exchange(key)
        // A caller without a right to a key learns nothing, not even whether the device exists.
        let known = await refusal { _ = try await world.initialize(id) }
        let unknown = await refusal { _ = try await world.initialize("260427-300000") }
        #expect(known == unknown)
        #expect(known?.detail == .rateLimited)
    }

    @Test func addressThatTriedManyIDsIsLimitedForKnownOnes() async throws {
        let world = try await World { $0.unknownIDsOfAddress = 5 }
        try await world.register(id)
        for index in 0..<50 { _ = await refusal { _ = try await world.initialize("260427-\(200_000 + index)") } }
        #expect(await refusal { _ = try await world.initialize(id) }?.detail == .rateLimited)
        _ = try await world.initialize(id, host: "198.51.100.1")
    }

    @Test func anOutsidersCallsDoNotKeepADeviceFromItsNewKey() async throws {
        let world = try await World {
            $0.callsOfDeviceFromAddress = 3
            $0.reinitAllow = ["198.51.100.0/24"].compactMap(AddressRange.init)
        }
        try await world.register(id)
        let first = try await world.initialize(id, host: "198.51.100.7").apiKey
        for _ in 0..<20 {
            _ = await refusal { _ = try await world.initialize(id) }
            _ = await refusal { _ = try await world.reinitialize(id) }
        }
        let second = try await world.reinitialize(id, host: "198.51.100.7").apiKey
        #expect(!second.isEmpty && second != first)
    }

    @Test func callsForOneDeviceAreLimited() async throws {
        let world = try await World { $0.callsOfDeviceFromAddress = 3 }
        try await world.register(id)
        _ = try await world.initialize(id)
        for _ in 0..<2 { _ = try await world.reinitialize(id) }
        #expect(await refusal { _ = try await world.reinitialize(id) }?.detail == .rateLimited)
        world.clock.advance(seconds: 20)
        _ = try await world.reinitialize(id)
    }

    @Test func fromOutsideOfTheListNoKeyIsReplaced() async throws {
        let world = try await World { $0.reinitAllow = ["198.51.100.0/24"].compactMap(AddressRange.init) }
        try await world.register(id)
        let key = try await world.initialize(id).apiKey
        for requestedID in [id, "260427-999999", "nonsense"] {
            let error = await refusal { _ = try await world.reinitialize(requestedID) }
            #expect(error?.status == .permissionDenied)
        }
        _ = try await world.exchange(key)
        let next = try await world.reinitialize(id, host: "198.51.100.7").apiKey
        #expect(await refusal { _ = try await world.exchange(key) }?.detail == .authInvalidCredential)
        _ = try await world.exchange(next)
    }

    @Test func withTheWindowAStrangersReinitOfADeviceInUseIsRefused() async throws {
        let world = try await World { $0.reinit = .window }
        try await world.register(id)
        _ = try await world.initialize(id)
        let key = try await world.reinitialize(id).apiKey
        let token = try await world.exchange(key).accessToken
        try await world.database.write { _ in }
        #expect(await refusal { _ = try await world.reinitialize(id) }?.detail == .failedPrecondition)
        _ = try world.upload(token)

        let operation = DeviceManagementServiceMethods.allowReinit
        _ = try await world.devices.managementService.allowReinit(
            AllowReinitRequest(name: "devices/\(id)"), context: world.call(operation))
        #expect(try world.audit().last == "user:system/admin AllowReinit devices/\(id) 192.0.2.7 OK 1")
        world.clock.advance(seconds: 899)
        let next = try await world.reinitialize(id).apiKey
        _ = try await world.exchange(next)
        try await world.database.write { _ in }
        #expect(await refusal { _ = try await world.reinitialize(id) }?.detail == .failedPrecondition)
    }
}
