import Basics
package import Capability
import Synchronization

/// The scrubber's counters; any thread may read them at any time.
package final class ScrubMetrics: Sendable {
    package struct Counts: Sendable, Hashable {
        package var bytes = 0
        package var objects = 0
        /// The number of completed passes.
        package var passes = 0
        package var failures = 0
        /// The number of corrupted objects; `nil` until it was read from the database.
        package var bad: Int?
    }

    private let counts = Lock(Counts())

    package var snapshot: Counts { counts.withLock { $0 } }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }
}

extension ScrubMetrics: MetricSource {
    package var families: [MetricFamily] { snapshot.families }
}

extension ScrubMetrics.Counts {
    var families: [MetricFamily] {
        [
            .counter(
                "data_gateway_scrubbed_bytes_total", "Bytes of objects that the scrubber read.", [([], bytes)]),
            .counter(
                "data_gateway_scrub_passes_total", "Complete passes of the scrubber over all objects.", [([], passes)]),
            .counter(
                "data_gateway_scrub_failures_total",
                "Objects that were skipped and passes that were interrupted by an error; the log has the error.",
                [([], failures)]),
            .gauge(
                "data_gateway_bad_objects", "Objects whose bytes no longer match their checksum.",
                bad.map { [([], $0)] } ?? []),
        ]
    }
}
