import Basics
import Synchronization

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
