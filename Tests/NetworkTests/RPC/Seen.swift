import Proto
import Synchronization

/// What a callback saw, in order.
final class Seen: Sendable {
    private let values = Mutex<[HealthCheckResponse.ServingStatus]>([])

    var all: [HealthCheckResponse.ServingStatus] { values.withLock { $0 } }

    func append(_ value: HealthCheckResponse.ServingStatus) { values.withLock { $0.append(value) } }
}
