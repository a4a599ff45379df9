import Catalog

extension ScrubMetrics: MetricSource {
    package var families: [MetricFamily] {
        let counts = snapshot
        return [
            .counter(
                "data_gateway_scrubbed_bytes_total", "Bytes of objects that the scrubber read.", [([], counts.bytes)]),
            .counter(
                "data_gateway_scrub_passes_total", "Complete passes of the scrubber over all objects.",
                [([], counts.passes)]),
            .counter(
                "data_gateway_scrub_failures_total",
                "Objects that were skipped and passes that were interrupted by an error; the log has the error.",
                [([], counts.failures)]),
            .gauge(
                "data_gateway_bad_objects", "Objects whose bytes no longer match their checksum.", [([], counts.bad)]),
        ]
    }
}
