import Basics
import Database

/// One line of the audit log: who did what to what, for which organization, from where, and what came of it.
package struct AuditEntry: Sendable, Hashable {
    /// E.g. `user:system/admin`, `device:260427-000001`, `site:4`, `gateway`, `nobody`.
    package var actor: String
    /// The organization it is about; `nil` where there is none.
    package var organization: OrganizationReference?
    /// The method's name, e.g. `DisableSite`.
    package var action: String
    /// E.g. `sites/4`, `devices/260427-000001`.
    package var target: String
    /// The ids of what the line is about, where that is several; empty where `target` says it.
    package var ids: [String] = []
    /// The caller's address without its port.
    package var peer: String
    /// `OK`, or the code of the refusal.
    package var result: String
    /// How many of the same kind one line stands for.
    package var count = 1

    package init(
        actor: String, organization: OrganizationReference? = nil, action: String, target: String, peer: String,
        result: String = "OK"
    ) {
        self.actor = actor
        self.organization = organization
        self.action = action
        self.target = target
        self.peer = peer
        self.result = result
    }

    /// What the gateway did by itself, not at a call.
    package static func byGateway(_ action: String, on target: String, count: Int = 1) -> AuditEntry {
        var entry = AuditEntry(actor: "gateway", action: action, target: target, peer: "")
        entry.count = count
        return entry
    }
}

/// Writes the audit log, in the transaction of what it tells of.
package enum Audit {
    package static func record(_ entry: AuditEntry, at now: UnixTime, in connection: Connection) throws {
        try AuditRecords(connection).insert(entry, at: now)
    }

    /// The time of the newest line; `nil` where there is none.
    package static func newestTime(in connection: Connection) throws -> UnixTime? {
        try AuditRecords(connection).newestTime()
    }
}
