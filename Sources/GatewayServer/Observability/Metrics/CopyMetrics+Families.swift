import CopyJobs

extension CopyMetrics: MetricSource {
    package var families: [MetricFamily] {
        let counts = snapshot
        let (jobs, items) = (CopyJobState.allCases, CopyItemState.allCases)
        return [
            .counter(
                "data_gateway_copy_jobs_total", "Finished copy jobs by state.",
                jobs.filter(\.isFinished).map { ([("outcome", $0.label)], counts.jobs[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_jobs", "Unfinished copy jobs by state.",
                jobs.filter { !$0.isFinished }.map { ([("state", $0.label)], counts.jobs[$0] ?? 0) }),
            .counter(
                "data_gateway_copy_items_total", "Finished items of copy jobs by state.",
                items.filter(\.isFinished).map { ([("outcome", $0.label)], counts.items[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_items", "Unfinished items of copy jobs by state.",
                items.filter { !$0.isFinished }.map { ([("state", $0.label)], counts.items[$0] ?? 0) }),
            .counter(
                "data_gateway_copy_retries_total", "Failed attempts at items that are retried.",
                [([], counts.retries)]),
            .counter(
                "data_gateway_copied_bytes_total", "Bytes that were copied to destinations.", [([], counts.bytes)]),
        ]
    }
}

extension CopyJobState {
    fileprivate var label: String { self == .partialFailed ? "partial_failed" : "\(self)" }
}

extension CopyItemState {
    fileprivate var label: String { "\(self)" }
}
