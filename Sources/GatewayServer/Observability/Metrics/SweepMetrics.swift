import Basics

/// The counters of the sweeps; any thread may read them at any time.
package final class SweepMetrics: MetricSource {
    package enum Kind: String, CaseIterable, Sendable {
        /// Uploads whose session had ended.
        case uploads
        /// Objects beyond their organization's retention.
        case objects
        /// Objects whose time in the trash was over.
        case trash
        /// Operations on many objects that finished long ago.
        case operations = "object_operations"
        /// Rows of ended multipart uploads that an earlier process left.
        case rows = "multipart_rows"
        /// Records of uploads that ended long ago.
        case uploadRecords = "upload_records"
        /// Records of objects that were deleted long ago.
        case deletedObjects = "deleted_objects"
        /// Sums of stored bytes that have become 0.
        case usage
        /// Files without a row.
        case files
        /// Audit lines beyond their retention or a maximum.
        case auditLines = "audit_lines"
        /// Deliveries of events beyond their retention or a maximum.
        case events
        /// Abandoned multipart uploads of static keys.
        case multiparts
        /// Objects of static keys that were kept long enough.
        case staticKeyObjects = "static_key_objects"
        /// Records of used identity tokens that have expired.
        case spentTokens = "spent_tokens"
        /// Copy jobs that finished long ago.
        case copyJobs = "copy_jobs"
        /// Sessions and API tokens of people that have expired.
        case sessions
    }

    struct Counts: Sendable {
        var swept = 0
        var failures = 0
    }

    /// The counters by kind, also those of apps.
    private let counts = Lock<[String: Counts]>([:])

    package init() {}

    package func swept(_ kind: String, count: Int) {
        counts.withLock { $0[kind, default: Counts()].swept += count }
    }

    package func failed(_ kind: String) {
        counts.withLock { $0[kind, default: Counts()].failures += 1 }
    }

    package var families: [MetricFamily] {
        let counts = counts.withLock { $0 }
        let own = Kind.allCases.map(\.rawValue)
        let names = own + counts.keys.filter { !own.contains($0) }.sorted()
        let kinds = names.map { ([("kind", $0)], counts[$0] ?? Counts()) }
        return [
            .counter(
                "data_gateway_swept_total", "Uploads, objects and files that sweeps removed.",
                kinds.map { ($0, $1.swept) }),
            .counter(
                "data_gateway_sweep_failures_total", "Sweeps that ended with an error; the log has the error.",
                kinds.map { ($0, $1.failures) }),
        ]
    }
}
