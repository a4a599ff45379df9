import Accounts
import Basics
import Database
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import DeviceInit

/// The record of refused calls, and the diagnosis that is made of it.
@Suite(.timeLimited) struct DeviceContactsTests {
    private let id = "260427-000001"

    /// Returns a world with a registered device, and its key.
    private func initialized() async throws -> (world: World, key: String) {
        let world = try await World()
        try await world.register(id)
        return (world, try await world.initialize(id).apiKey)
    }

    private func written(in world: World) async throws -> [RefusalRecord] {
        // Deferred records are written before this.
        try await world.database.write { _ in }
        return try await world.database.read { [id] in try RefusalRecords($0).all(of: id) }
    }

    private func diagnosis(in world: World, token: String? = nil) async throws -> DeviceDiagnosis {
        try #require(try await world.device(id, token: token).diagnosis)
    }

    @Test func refusedCallsOfADeviceAreOneRowAMinute() async throws {
        let (world, key) = try await initialized()
        try await world.disable(id)
        for _ in 0..<10_000 { _ = await refusal { _ = try await world.exchange(key) } }
        #expect(try await written(in: world).isEmpty)
        #expect(try await diagnosis(in: world).refusals.map(\.count) == [10_000])
        world.clock.advance(seconds: 61)
        _ = await refusal { _ = try await world.exchange(key) }
        let rows = try await written(in: world)
        #expect(rows.map(\.reason) == ["AUTH_KEY_DISABLED"])
        #expect(rows.map(\.count) == [10_001])
        #expect(try #require(rows.first).lastAt == world.clock.now())
        let found = try await diagnosis(in: world)
        #expect(found.condition == .disabled)
        #expect(
            found.sentence == """
                The device is disabled. Calls continue: 10001 refused calls, the first one 1 minute ago, the last one \
                0 seconds ago.
                """)
    }

    @Test func refusalsOfTwoGatewaysAddUp() async throws {
        let (world, key) = try await initialized()
        try await world.disable(id)
        for _ in 0..<2 {
            _ = await refusal { _ = try await world.exchange(key) }
            world.accounts.deferred.flush(at: world.clock.now())
        }
        #expect(try await written(in: world).map(\.count) == [2])
        world.clock.advance(seconds: 86_401)
        _ = await refusal { _ = try await world.exchange(key) }
        world.accounts.deferred.flush(at: world.clock.now())
        #expect(try await written(in: world).map(\.count) == [1])
    }

    @Test func callsWithATokenOfADisabledDeviceAreRecorded() async throws {
        let (world, key) = try await initialized()
        let token = try await world.exchange(key).accessToken
        try await world.disable(id)
        #expect(throws: (any Error).self) { _ = try world.upload(token) }
        #expect(try await diagnosis(in: world).refusals.map(\.reason) == ["AUTH_KEY_DISABLED"])
    }

    @Test func callsThatOnlyNameADeviceWriteNoRow() async throws {
        let (world, key) = try await initialized()
        for host in ["192.0.2.1", "192.0.2.1", "192.0.2.2"] {
            _ = await refusal { _ = try await world.initialize(id, host: host) }
            world.clock.advance(seconds: 1)
        }
        let wrong = String(key.dropLast(4)) + (key.hasSuffix("AAAA") ? "BBBB" : "AAAA")
        _ = await refusal { _ = try await world.exchange(wrong, host: "192.0.2.3") }
        world.accounts.deferred.flush(at: world.clock.now())
        #expect(try await written(in: world).isEmpty)
        let found = try await diagnosis(in: world)
        #expect(found.refusals.isEmpty)
        #expect(found.unprovenCalls.map(\.address) == ["192.0.2.3", "192.0.2.2", "192.0.2.1"])
        #expect(found.unprovenCalls.map(\.count) == [1, 1, 2])
        #expect(
            found.unprovenCalls.map(\.reason) == ["AUTH_INVALID_CREDENTIAL"]
                + Array(repeating: "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED", count: 2))
    }

    @Test func wrongClockIsShownUntilTheDeviceCallsWithoutIt() async throws {
        let (world, key) = try await initialized()
        let token = try await world.exchange(key).accessToken
        let keyID = try #require(try world.upload(token)).key.id
        let deferred = world.accounts.deferred
        deferred.noteClock(ofKey: keyID, offset: 119, at: world.clock.now())
        deferred.flush(at: world.clock.now())
        try await world.database.write { _ in }
        #expect(try await diagnosis(in: world).clockOffsetSeconds == 0)
        deferred.noteClock(ofKey: keyID, offset: -10_800, at: world.clock.now())
        deferred.flush(at: world.clock.now())
        try await world.database.write { _ in }
        let found = try await diagnosis(in: world)
        #expect(found.clockOffsetSeconds == -10_800)
        #expect(found.sentence == "The device's clock is 3 hours behind.")
        world.clock.advance(seconds: 7200)
        _ = try await world.exchange(key)
        deferred.flush(at: world.clock.now())
        try await world.database.write { _ in }
        #expect(try await diagnosis(in: world, token: world.login()).clockOffsetSeconds == 0)
    }

    @Test func refusalsEndWithTheDevice() async throws {
        let (world, key) = try await initialized()
        try await world.disable(id)
        _ = await refusal { _ = try await world.exchange(key) }
        try await world.database.write { [id] connection in
            _ = try connection.execute("DELETE FROM api_keys")
            try DeviceRecords(connection).delete(try DeviceID(id))
        }
        // What others have recorded meanwhile is written all the same.
        world.accounts.deferred.noteDenial("InitDevice", "X", host: "192.0.2.9", at: world.clock.now())
        world.accounts.deferred.flush(at: world.clock.now())
        #expect(try await written(in: world).isEmpty)
        #expect(try world.audit().contains { $0.hasPrefix("nobody InitDevice") && $0.hasSuffix("X 1") })
    }
}
