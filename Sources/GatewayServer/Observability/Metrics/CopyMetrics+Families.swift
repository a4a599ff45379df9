import CopyJobs

extension CopyMetrics: MetricSource {
    package var families: [MetricFamily] { snapshot.families }
}

extension CopyMetrics.Counts {
    var families: [MetricFamily] {
        let (allJobs, allItems) = (CopyJobState.allCases, CopyItemState.allCases)
        return [
            .counter(
                "data_gateway_copy_jobs_total", "Finished copy jobs by state.",
                allJobs.filter(\.isFinished).map { ([("outcome", $0.label)], jobs[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_jobs", "Unfinished copy jobs by state.",
                unfinished.map { unfinished in
                    allJobs.filter { !$0.isFinished }.map { ([("state", $0.label)], unfinished.jobs[$0] ?? 0) }
                } ?? []),
            .counter(
                "data_gateway_copy_items_total", "Finished items of copy jobs by state.",
                allItems.filter(\.isFinished).map { ([("outcome", $0.label)], items[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_items", "Unfinished items of copy jobs by state.",
                unfinished.map { unfinished in
                    allItems.filter { !$0.isFinished }.map { ([("state", $0.label)], unfinished.items[$0] ?? 0) }
                } ?? []),
            .counter(
                "data_gateway_copy_retries_total", "Failed attempts at items that are retried.",
                [([], retries)]),
            .counter("data_gateway_copied_bytes_total", "Bytes that were copied to destinations.", [([], bytes)]),
        ]
    }
}

extension CopyJobState {
    fileprivate var label: String { self == .partialFailed ? "partial_failed" : "\(self)" }
}

extension CopyItemState {
    fileprivate var label: String { "\(self)" }
}
