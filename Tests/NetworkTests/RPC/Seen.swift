import Basics
import Proto
import Synchronization

/// The values that a callback received, in order.
final class Seen: Sendable {
    private let values = Lock<[HealthCheckResponse.ServingStatus]>([])

    var all: [HealthCheckResponse.ServingStatus] { values.withLock { $0 } }

    func append(_ value: HealthCheckResponse.ServingStatus) { values.withLock { $0.append(value) } }
}
