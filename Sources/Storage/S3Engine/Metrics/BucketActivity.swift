package import Basics
import RPC
package import StoreClient
import Synchronization

/// The counters of the requests to a bucket; any thread may read them at any time.
package final class BucketActivity: S3Observer {
    /// The operations that are counted apart from each other.
    enum Operation: String, CaseIterable {
        case put
        case get
        case head
        case delete
        case list
        /// The requests of a ``PrefixOwner``, of all kinds.
        case ownership
    }

    /// A request that the store did not do.
    package struct Failure: Sendable, Equatable {
        /// The operation, and the reason: a sentence without a full stop.
        package let reason: String
        package let at: UnixTime
    }

    struct Counts {
        /// The number of requests by the number of their result.
        var results = [Int](repeating: 0, count: S3RequestResult.allCases.count)
        var durations = Histogram()
    }

    private struct State {
        var counts = [Counts](repeating: Counts(), count: Operation.allCases.count)
        var lastFailure: Failure?
    }

    private let isOwnership: Bool
    private let clock: any WallClock
    private let state = Lock(State())
    private let sentCount = Atomic<Int>(0)
    private let receivedCount = Atomic<Int>(0)

    /// - Parameter isOwnership: whether the requests are those of a ``PrefixOwner``.
    package init(isOwnership: Bool = false, clock: any WallClock) {
        self.isOwnership = isOwnership
        self.clock = clock
    }

    package func ended(_ kind: S3RequestKind, _ error: (any Error)?, after duration: Duration) {
        let operation = isOwnership ? Operation.ownership : Operation.allCases[kind.rawValue]
        // A prefix that nobody owns has no object.
        let result = S3RequestResult(isOwnership ? .head : kind, error)
        let failure = error.flatMap { error in
            result == .done ? nil : Failure(reason: "\(operation.rawValue): \(error)", at: clock.now())
        }
        state.withLock { state in
            let index = isOwnership ? Operation.allCases.count - 1 : kind.rawValue
            state.counts[index].results[result.rawValue] += 1
            state.counts[index].durations.add(nanoseconds: UInt64(clamping: duration.nanoseconds))
            if let failure { state.lastFailure = failure }
        }
    }

    package func sent(_ count: Int) { sentCount.add(count, ordering: .relaxed) }

    func received(_ count: Int) { receivedCount.add(count, ordering: .relaxed) }

    var sentBytes: Int { sentCount.load(ordering: .relaxed) }
    var receivedBytes: Int { receivedCount.load(ordering: .relaxed) }
    var lastFailure: Failure? { state.withLock { $0.lastFailure } }

    /// The counters of each operation of this kind of requests.
    var counts: [(operation: Operation, counts: Counts)] {
        let counts = state.withLock { $0.counts }
        return zip(Operation.allCases, counts).filter { ($0.0 == .ownership) == isOwnership }.map { ($0, $1) }
    }
}
