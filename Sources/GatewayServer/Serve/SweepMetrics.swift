import Synchronization

/// What the sweeps counted; read at any time, by any thread.
final class SweepMetrics: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Uploads whose session had ended.
        case uploads
        /// Objects that were older than their organization keeps them.
        case objects
        /// Files whose rows were gone.
        case files
        /// Lines of the audit log that were kept long enough, or too many.
        case auditLines = "audit_lines"
    }

    struct Counts: Sendable {
        var swept = 0
        var failures = 0
    }

    private let counts = Mutex<[Kind: Counts]>([:])

    func swept(_ kind: Kind, count: Int) {
        counts.withLock { $0[kind, default: Counts()].swept += count }
    }

    func failed(_ kind: Kind) {
        counts.withLock { $0[kind, default: Counts()].failures += 1 }
    }

    /// A copy of all counts, in a fixed order.
    var snapshot: [(kind: Kind, counts: Counts)] {
        counts.withLock { counts in Kind.allCases.map { ($0, counts[$0] ?? Counts()) } }
    }
}
