import Basics
import Crypto
import Database
package import GatewayAPI
package import Protobuf
package import RPC

/// The responses of calls that make something, kept for a minute, so that a balancer may send such a call again if the gateway ended before
/// it responded.
///
/// A balancer in front of several gateways names each call by a random `x-call-id`, the same for each attempt. The response is stored in
/// the transaction that executes the call, and sealed, because it may contain a key that is stored nowhere else. Without the field,
/// nothing is read and nothing is kept.
package struct KeptResponses: Sendable {
    /// A balancer sends a call again within this time.
    static let lifetime = Duration.seconds(60)

    private let database: Database
    private let values: SealedValues
    private let clock: any WallClock

    package init(_ environment: ModuleEnvironment) {
        database = environment.database
        values = SealedValues(key: environment.keyring.key(.keptResponses))
        clock = environment.clock
    }

    /// Executes a call, or returns the response to an earlier attempt.
    ///
    /// - Parameters:
    ///   - execute: makes one write whose result it returns.
    ///   - respond: makes the response for that result; called in the write's transaction.
    package func once<Value: Sendable, Response: Message>(
        _ context: CallContext, _ execute: () async throws -> Value, respond: @escaping @Sendable (Value) -> Response
    ) async throws -> Response {
        guard let id = context.balancedCallID else { return respond(try await execute()) }
        let call = CallName(id: id, method: context.method.path)
        if let kept: Response = try await find(call) { return kept }
        let end = clock.now().adding(Self.lifetime)
        // Two responses for a value may differ, for example in a signature.
        let stored = Lock<Response?>(nil)
        let observer = WriteObserver { [values] value, connection in
            guard let value = value as? Value else { return }
            let response = respond(value)
            stored.withLock { $0 = response }
            try KeptResponseRecords(connection).insert(
                call, values.seal(response.encoded(), of: call.owner), until: end)
        }
        do {
            let value = try await WriteObserver.$current.withValue(observer, operation: execute)
            return stored.withLock { $0 } ?? respond(value)
        } catch {
            // Another gateway may have executed the call meanwhile.
            if let kept: Response = try await find(call) { return kept }
            throw error
        }
    }

    private func find<Response: Message>(_ call: CallName) async throws -> Response? {
        let now = clock.now()
        let sealed = try await database.read { try KeptResponseRecords($0).find(call, at: now) }
        return try sealed.flatMap { values.open($0, of: call.owner) }.map { try Response(decoding: $0) }
    }
}

/// A call with the id that a balancer gave it.
struct CallName: Sendable {
    let id: String
    let method: String

    /// The owner of its sealed response.
    fileprivate var owner: [UInt8] { Array("\(id) \(method)".utf8) }
}
