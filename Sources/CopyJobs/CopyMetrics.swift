import Basics
package import Capability
import Database
import Synchronization

/// The counters of jobs and items; any thread may read them at any time.
package final class CopyMetrics: Sendable {
    /// The numbers of unfinished jobs and items, by state.
    package struct Unfinished: Sendable, Hashable {
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
    }

    package struct Counts: Sendable, Hashable {
        /// The numbers of jobs and items finished since the start, by state.
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
        /// The unfinished jobs and items; `nil` if the database cannot be read.
        package var unfinished: Unfinished?
        /// The number of failed attempts that are retried.
        package var retries = 0
        /// The number of bytes sent or written to destinations.
        package var bytes = 0
    }

    private let database: Database
    private let counts = Lock(Counts())

    init(database: Database) {
        self.database = database
    }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }

    package var snapshot: Counts {
        var counts = counts.withLock { $0 }
        counts.unfinished = try? database.readBlocking { try CopyRecords($0).countUnfinished() }
        return counts
    }
}

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
