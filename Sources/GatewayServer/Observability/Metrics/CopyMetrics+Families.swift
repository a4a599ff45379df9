import CopyJobs

extension CopyMetrics: MetricSource {
    package var families: [MetricFamily] {
        let counts = snapshot
        let (jobs, items) = (CopyJobState.allCases, CopyItemState.allCases)
        return [
            .counter(
                "data_gateway_copy_jobs_total", "Copy jobs that came to their end.",
                jobs.filter(\.isFinished).map { ([("outcome", $0.label)], counts.jobs[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_jobs", "Copy jobs that have not come to their end.",
                jobs.filter { !$0.isFinished }.map { ([("state", $0.label)], counts.jobs[$0] ?? 0) }),
            .counter(
                "data_gateway_copy_items_total", "Items of copy jobs that came to their end.",
                items.filter(\.isFinished).map { ([("outcome", $0.label)], counts.items[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_items", "Items of copy jobs that have not come to their end.",
                items.filter { !$0.isFinished }.map { ([("state", $0.label)], counts.items[$0] ?? 0) }),
            .counter(
                "data_gateway_copy_retries_total", "Attempts at items that failed and are made again.",
                [([], counts.retries)]),
            .counter("data_gateway_copied_bytes_total", "Bytes that destinations took.", [([], counts.bytes)]),
        ]
    }
}

extension CopyJobState {
    fileprivate var label: String { self == .partialFailed ? "partial_failed" : "\(self)" }
}

extension CopyItemState {
    fileprivate var label: String { "\(self)" }
}
