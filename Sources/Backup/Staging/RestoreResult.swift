import Basics

/// The result of a requested restore: `DIR/restore/outcome`.
struct RestoreResult: Codable, Sendable, Equatable {
    /// The end of the restore, in seconds since 1970.
    var finishedAt: Int64 = 0
    /// The time of the backup in RFC 3339; `nil` if previous data were put back.
    var createdAt: String?
    /// The reason why the present data were not replaced; `nil` = they were.
    var failure: String?
    var objects = 0
    var missing = 0
    var damaged = 0
    var quarantined = 0
    var requestedBy = ""
    /// Whether the audit log has a line about it.
    var isAudited = false

    init(_ request: RestoreRequest, at now: UnixTime) {
        finishedAt = now.seconds
        requestedBy = request.requestedBy
    }

    /// Takes over the numbers of a restore.
    mutating func count(_ outcome: Restore.Outcome) {
        createdAt = outcome.createdAt
        objects = outcome.objects
        missing = outcome.missing.count
        damaged = outcome.damaged.count
        quarantined = outcome.quarantined
    }
}
