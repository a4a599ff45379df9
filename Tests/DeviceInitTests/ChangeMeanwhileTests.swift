import Database
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import DeviceInit

/// Changes of the state that decides about a key, between the read that admits a device and the write that issues the key.
@Suite(.timeLimited) struct ChangeMeanwhileTests {
    private let id = "260427-000001"

    enum Change {
        /// A statement on the tables of devices.
        case ofDevices(String)
        case ofAccounts(AccountChange)
    }

    /// Makes a call whose read precedes `change`, and whose write follows directly after it.
    private func call<T: Sendable>(
        in world: World, after change: Change, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> Result<T, any Error> {
        let release = try world.database.holdWriter()
        let waiting = world.database.waitingWrites
        world.database.submit(
            { [id] connection in
                switch change {
                case .ofDevices(let statement): _ = try connection.execute(statement)
                case .ofAccounts(let change): try change.apply(device: id, organization: 1, in: connection)
                }
            },
            reply: { result in
                if case .failure(let error) = result { Issue.record("the change failed: \(error)") }
            })
        let call = Task { try await body() }
        while world.database.waitingWrites < waiting + 2 { await Task.yield() }
        release()
        return await call.result
    }

    @Test(arguments: [
        Change.ofDevices("UPDATE devices SET is_disabled = 1"), .ofDevices("UPDATE devices SET suite_id = NULL"),
        .ofAccounts(.siteDisabled),
    ])
    func initIsRefusedByWhatIsThereNow(_ change: Change) async throws {
        let world = try await World()
        let id = id
        try await world.register(id)
        let outcome = try await call(in: world, after: change) { try await world.initialize(id) }
        #expect(await refusal { _ = try outcome.get() }?.detail == .deviceNotReady)
        #expect(try world.rows.keyCount(organization: 1) == 0)
        let isInitialized = try world.database.readBlocking {
            try $0.first("SELECT initialized_at FROM devices") { !$0.isNull(0) }
        }
        #expect(isInitialized == false)
    }

    @Test func initTakesTagsInAnyOrderOfTheirKeys() async throws {
        let world = try await World()
        try await world.register(id)
        try await world.database.write {
            _ = try $0.execute("UPDATE devices SET tags = '{ \"line\": \"7\", \"fleet\": \"a\" }'")
        }
        #expect(try await world.initialize(id).tags == ["fleet": "a", "line": "7"])
    }

    @Test func initGivesTheTagsThatAreThereNow() async throws {
        let world = try await World()
        let id = id
        try await world.register(id, tags: ["fleet": "a"])
        let change = Change.ofDevices("UPDATE devices SET tags = '{\"fleet\":\"b\"}'")
        let outcome = try await call(in: world, after: change) { try await world.initialize(id) }
        let reply = try outcome.get()
        #expect(reply.tags == ["fleet": "b"])
        _ = try await world.exchange(reply.apiKey)
    }

    @Test(arguments: [
        (AccountChange.keyDisabled, DetailCode.deviceNotReady),
        (.keyHeld, .deviceNotReady),
        (.keyExpired, .deviceNotReady),
        (.keyUsed, .failedPrecondition),
        (.keyDeleted, .deviceNotReady),
    ])
    func reinitIsRefusedByTheKeyThatIsThereNow(_ change: AccountChange, _ detail: DetailCode) async throws {
        let world = try await World { $0.reinit = .window }
        let id = id
        try await world.register(id)
        _ = try await world.initialize(id)
        let outcome = try await call(in: world, after: .ofAccounts(change)) { try await world.reinitialize(id) }
        #expect(await refusal { _ = try outcome.get() }?.detail == detail)
        #expect(try await world.device(id).sdkVersion == "1.2.3")
    }

    @Test func reinitReplacesAKeyThatWasReplacedMeanwhile() async throws {
        let world = try await World()
        let id = id
        try await world.register(id)
        let first = try await world.initialize(id).apiKey
        let outcome = try await call(in: world, after: .ofAccounts(.keyReplaced)) { try await world.reinitialize(id) }
        _ = try await world.exchange(try outcome.get().apiKey)
        #expect(await refusal { _ = try await world.exchange(first) }?.detail == .authInvalidCredential)
        #expect(try world.rows.keyCount(organization: 1) == 1)
    }
}
