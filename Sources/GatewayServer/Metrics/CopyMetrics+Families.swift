import Copies

extension CopyMetrics: MetricSource {
    var families: [MetricFamily] {
        let counts = snapshot
        return [
            .counter(
                "data_gateway_copy_items_total", "Items of copy jobs that came to their end.",
                [
                    ([("outcome", "succeeded")], counts.succeeded), ([("outcome", "skipped")], counts.skipped),
                    ([("outcome", "failed")], counts.failed), ([("outcome", "canceled")], counts.canceled),
                ]),
            .counter(
                "data_gateway_copy_retries_total", "Attempts at items that failed and are made again.",
                [([], counts.retries)]),
            .counter("data_gateway_copied_bytes_total", "Bytes that destinations took.", [([], counts.bytes)]),
            .gauge("data_gateway_copy_items", "Items that are being copied.", [([], counts.copying)]),
        ]
    }
}
