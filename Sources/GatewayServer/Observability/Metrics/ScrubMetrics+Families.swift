import Catalog

extension ScrubMetrics: MetricSource {
    package var families: [MetricFamily] { snapshot.families }
}

extension ScrubMetrics.Counts {
    var families: [MetricFamily] {
        [
            .counter(
                "data_gateway_scrubbed_bytes_total", "Bytes of objects that were read again.", [([], bytes)]),
            .counter("data_gateway_scrub_passes_total", "Passes over all objects.", [([], passes)]),
            .counter(
                "data_gateway_scrub_failures_total",
                "Objects passed over and passes interrupted by an error, which the log tells.",
                [([], failures)]),
            .gauge(
                "data_gateway_bad_objects", "Objects whose bytes are no more what was verified.",
                bad.map { [([], $0)] } ?? []),
        ]
    }
}
