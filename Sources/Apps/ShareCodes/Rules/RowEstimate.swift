import Basics
import RPC

/// The number of rows of a kind, counted once a minute and adjusted in between, for a limit that may be exceeded by a few.
final class RowEstimate: Sendable {
    private let name: String
    private let limit: Int
    private let value = Lock(0)

    /// - Parameter name: the rows in the plural, for the error.
    init(_ name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// - Throws: RESOURCE_EXHAUSTED if there are as many rows as the limit.
    func checkCapacity() throws(RPCError) {
        guard value.withLock({ $0 }) >= limit else { return }
        throw .rateLimited(
            "the gateway stores the maximum number of \(name): try again later", retryAfterMilliseconds: 60_000)
    }

    /// Notes one more row.
    func add() { value.withLock { $0 += 1 } }

    func set(_ count: Int) { value.withLock { $0 = count } }
}
