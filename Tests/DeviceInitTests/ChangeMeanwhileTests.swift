import Database
import Dispatch
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing

@testable import DeviceInit

/// What decides about a key may change between the read that admits a device and the write that gives the key.
@Suite(.timeLimited) struct ChangeMeanwhileTests {
    private let id = "260427-000001"

    /// Makes a call whose write comes right after `change`, and whose read came before it.
    private func call<T: Sendable>(
        in world: World, after change: String, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> Result<T, any Error> {
        let release = world.database.holdWriter()
        let waiting = world.database.waitingWrites
        world.database.submit({ _ = try $0.execute(change) }, reply: { _ in })
        let call = Task { try await body() }
        while world.database.waitingWrites < waiting + 2 { await Task.yield() }
        release()
        return await call.result
    }

    @Test(arguments: [
        "UPDATE devices SET is_disabled = 1", "UPDATE devices SET suite_id = NULL", "UPDATE sites SET status = 2",
    ])
    func initIsRefusedByWhatIsThereNow(_ change: String) async throws {
        let world = try await World()
        let id = id
        try await world.register(id)
        let outcome = try await call(in: world, after: change) { try await world.initialize(id) }
        #expect(await refusal { _ = try outcome.get() }?.detail == .deviceNotReady)
        #expect(try world.database.readBlocking { try $0.first("SELECT count(*) FROM api_keys") { $0.int(0) } } == 0)
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
        let change = "UPDATE devices SET tags = '{\"fleet\":\"b\"}'"
        let outcome = try await call(in: world, after: change) { try await world.initialize(id) }
        let reply = try outcome.get()
        #expect(reply.tags == ["fleet": "b"])
        _ = try await world.exchange(reply.apiKey)
    }

    @Test(arguments: [
        ("UPDATE api_keys SET status = 2", DetailCode.deviceNotReady),
        ("UPDATE api_keys SET is_held = 1", .deviceNotReady),
        ("UPDATE api_keys SET expires_at = 1", .deviceNotReady),
        ("UPDATE api_keys SET last_used_at = 1", .failedPrecondition),
        ("DELETE FROM api_keys", .deviceNotReady),
    ])
    func reinitIsRefusedByTheKeyThatIsThereNow(_ change: String, _ detail: DetailCode) async throws {
        let world = try await World { $0.reinit = .window }
        let id = id
        try await world.register(id)
        _ = try await world.initialize(id)
        let outcome = try await call(in: world, after: change) { try await world.reinitialize(id) }
        #expect(await refusal { _ = try outcome.get() }?.detail == detail)
        #expect(try await world.device(id).sdkVersion == "1.2.3")
    }

    @Test func reinitReplacesAKeyThatWasReplacedMeanwhile() async throws {
        let world = try await World()
        let id = id
        try await world.register(id)
        let first = try await world.initialize(id).apiKey
        let change = "UPDATE api_keys SET id = '01890000-0000-7000-8000-000000000000'"
        let outcome = try await call(in: world, after: change) { try await world.reinitialize(id) }
        _ = try await world.exchange(try outcome.get().apiKey)
        #expect(await refusal { _ = try await world.exchange(first) }?.detail == .authInvalidCredential)
        #expect(try world.database.readBlocking { try $0.first("SELECT count(*) FROM api_keys") { $0.int(0) } } == 1)
    }
}

extension Database {
    /// Holds the writer inside a write until the returned closure is called.
    fileprivate func holdWriter() -> () -> Void {
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        submit(
            { _ in
                entered.signal()
                release.wait()
            }, reply: { _ in })
        entered.wait()
        return { release.signal() }
    }
}
