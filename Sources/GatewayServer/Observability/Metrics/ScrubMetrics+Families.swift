import Catalog

extension ScrubMetrics: MetricSource {
    package var families: [MetricFamily] {
        let counts = snapshot
        return [
            .counter(
                "data_gateway_scrubbed_bytes_total", "Bytes of objects that were read again.", [([], counts.bytes)]),
            .counter("data_gateway_scrub_passes_total", "Passes over all objects.", [([], counts.passes)]),
            .counter(
                "data_gateway_scrub_failures_total",
                "Objects passed over and passes interrupted by an error, which the log tells.",
                [([], counts.failures)]),
            .gauge(
                "data_gateway_bad_objects", "Objects whose bytes are no more what was verified.", [([], counts.bad)]),
        ]
    }
}
