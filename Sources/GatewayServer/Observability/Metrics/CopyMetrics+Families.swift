import CopyJobs

extension CopyMetrics: MetricSource {
    package var families: [MetricFamily] { snapshot.families }
}

extension CopyMetrics.Counts {
    var families: [MetricFamily] {
        let (allJobs, allItems) = (CopyJobState.allCases, CopyItemState.allCases)
        return [
            .counter(
                "data_gateway_copy_jobs_total", "Copy jobs that came to their end.",
                allJobs.filter(\.isFinished).map { ([("outcome", $0.label)], jobs[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_jobs", "Copy jobs that have not come to their end.",
                unfinished.map { unfinished in
                    allJobs.filter { !$0.isFinished }.map { ([("state", $0.label)], unfinished.jobs[$0] ?? 0) }
                } ?? []),
            .counter(
                "data_gateway_copy_items_total", "Items of copy jobs that came to their end.",
                allItems.filter(\.isFinished).map { ([("outcome", $0.label)], items[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_items", "Items of copy jobs that have not come to their end.",
                unfinished.map { unfinished in
                    allItems.filter { !$0.isFinished }.map { ([("state", $0.label)], unfinished.items[$0] ?? 0) }
                } ?? []),
            .counter(
                "data_gateway_copy_retries_total", "Attempts at items that failed and are made again.",
                [([], retries)]),
            .counter("data_gateway_copied_bytes_total", "Bytes that destinations took.", [([], bytes)]),
        ]
    }
}

extension CopyJobState {
    fileprivate var label: String { self == .partialFailed ? "partial_failed" : "\(self)" }
}

extension CopyItemState {
    fileprivate var label: String { "\(self)" }
}
