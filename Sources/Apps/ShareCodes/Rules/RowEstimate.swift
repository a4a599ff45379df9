import Basics
import RPC

/// The number of rows of a kind, counted once a minute and adjusted in between, for a limit that may be exceeded by a few.
final class RowEstimate: Sendable {
    private let limit: Int
    private let value = Lock(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// - Throws: RESOURCE_EXHAUSTED if there are as many rows as the limit.
    func checkRoom() throws(RPCError) {
        guard value.withLock({ $0 }) >= limit else { return }
        throw .rateLimited("the gateway stores too many of these: try again later", retryAfterMilliseconds: 60_000)
    }

    /// Notes one more row.
    func add() { value.withLock { $0 += 1 } }

    func set(_ count: Int) { value.withLock { $0 = count } }
}
