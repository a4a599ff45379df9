import Catalog

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
