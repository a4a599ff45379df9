import Basics
import Database
import RPC
import StoreServer
import Synchronization

/// A part of the program that works from its start to its stop.
protocol Service: Sendable {
    /// The name in messages, e.g. `web listener`.
    var name: String { get }

    /// Returns once the service works.
    ///
    /// - Parameter ended: called at most once, if the service ends because of an error.
    /// - Throws: if it cannot start; nothing of it stays open then.
    func start(_ ended: @escaping @Sendable (any Error) -> Void) async throws

    /// Returns once everything of the service is closed. Called once, after a successful start.
    func stop() async
}

/// A service that opens a value for others at its start, e.g. a database or a listener.
final class ValueService<Value: Sendable>: Service {
    let name: String
    private let open: @Sendable () async throws -> Value
    private let close: @Sendable (Value) async -> Void
    private let held = Lock<Value?>(nil)

    init(
        _ name: String, open: @escaping @Sendable () async throws -> Value,
        close: @escaping @Sendable (Value) async -> Void = { _ in }
    ) {
        self.name = name
        self.open = open
        self.close = close
    }

    /// The value from the start to the stop; `nil` before and after.
    var current: Value? { held.withLock { $0 } }

    /// The value, which may be used from the start to the stop only.
    var value: Value {
        guard let value = current else { preconditionFailure("the service '\(name)' is not started") }
        return value
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) async throws {
        let value = try await open()
        held.withLock { $0 = value }
    }

    func stop() async {
        guard let value = held.withLock({ $0.take() }) else { return }
        await close(value)
    }
}

/// The readiness for probes. It is the last service to start and the first to stop.
final class Readiness: Service {
    let name = "readiness"
    private let state: ServingState
    private let modules: ValueService<GatewayModules>
    private let isStarted = Lock(false)

    init(_ state: ServingState, _ modules: ValueService<GatewayModules>) {
        self.state = state
        self.modules = modules
    }

    /// The reason why no calls should be sent to the gateway; `nil` = it is ready.
    var problem: String? {
        guard isStarted.withLock({ $0 }) else { return "starting" }
        guard state.isServing else { return "draining" }
        return modules.current?.core.serverDatabase?.problem
    }

    /// The reason why no requests should be sent to its object store; `nil` = it is ready.
    var objectStoreProblem: String? {
        problem ?? modules.current?.core.store.engine.problem
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {
        isStarted.withLock { $0 = true }
    }

    func stop() {
        state.end()
    }
}

/// A stack of functions that close what has been opened.
final class Closings: Sendable {
    private let closings = Lock<[@Sendable () -> Void]>([])

    func add(_ close: @escaping @Sendable () -> Void) {
        closings.withLock { $0.append(close) }
    }

    /// Closes everything, the newest first.
    func close() {
        for close in closings.withLock({ closings in
            defer { closings = [] }
            return closings.reversed()
        }) { close() }
    }
}

/// Refuses the background reads that do not begin soon when the gateway stops: their calls would be waited for like those at work.
struct ReadDrain: Service {
    /// The time in which they may begin: no balancer repeats a call that got a response.
    private static let limit = Duration.seconds(2)

    let name = "waiting reads"
    let modules: ValueService<GatewayModules>

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {}

    func stop() { modules.value.core.database.refuseWaitingReads(after: Self.limit) }
}

/// Lets requests of the object store in progress finish. Its listener is opened with the modules, which need its address.
struct StoreDrain: Service {
    let name = "object-store listener"
    let modules: ValueService<GatewayModules>
    let limit: Duration

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {}

    func stop() async {
        let (server, limit) = (modules.value.core.storeServer, limit)
        await Worker.thread("listener-end").run { server.stop(drainingFor: limit) }
    }
}
