import Basics
package import Capability
import Synchronization

/// The counters of the sweeps; any thread may read them at any time.
package final class SweepMetrics: MetricSource {
    private struct Counts {
        var swept = 0
        var failures = 0
    }

    /// The counters by kind.
    private let counts: Lock<[String: Counts]>

    /// - Parameter kinds: those that have a counter before their first sweep; several sweeps may be of one kind.
    package init(kinds: [String]) {
        counts = Lock(Dictionary(kinds.map { ($0, Counts()) }) { first, _ in first })
    }

    package func swept(_ kind: String, count: Int) {
        counts.withLock { $0[kind, default: Counts()].swept += count }
    }

    package func failed(_ kind: String) {
        counts.withLock { $0[kind, default: Counts()].failures += 1 }
    }

    package var families: [MetricFamily] {
        let kinds = counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ([("kind", $0)], $1) }
        return [
            .counter(
                "data_gateway_swept_total", "Uploads, objects and files that sweeps removed.",
                kinds.map { ($0, $1.swept) }),
            .counter(
                "data_gateway_sweep_failures_total", "Sweeps that ended with an error; the log has the error.",
                kinds.map { ($0, $1.failures) }),
        ]
    }
}
