package import Basics
package import Database

/// One line of the audit log: the actor, the action and its target, the organization, the address, and the result.
package struct AuditEntry: Sendable, Hashable {
    /// The caller, e.g. `user:system/admin`, `device:260427-000001`, `site:4`, `gateway`, `nobody`.
    package var actor: String
    /// The organization concerned; `nil` if the line concerns no organization.
    package var organization: OrganizationReference?
    /// The method's name, e.g. `DisableSite`.
    package var action: String
    /// The target of the action, e.g. `sites/4`, `devices/260427-000001`.
    package var target: String
    /// The ids of several targets; empty if `target` is the only one.
    package var ids: [String] = []
    /// The caller's address without its port.
    package var peer: String
    /// `OK`, or the code of the error.
    package var result: String
    /// The number of equal events that the line represents.
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

    /// Makes an entry for something that the gateway did by itself, without a call.
    package static func byGateway(_ action: String, on target: String, count: Int = 1) -> AuditEntry {
        var entry = AuditEntry(actor: "gateway", action: action, target: target, peer: "")
        entry.count = count
        return entry
    }
}

/// Writes the audit log, in the transaction of the audited change.
package enum Audit {
    package static func record(_ entry: AuditEntry, at now: UnixTime, in connection: Connection) throws {
        try AuditRecords(connection).insert(entry, at: now)
    }

    /// Returns the time of the newest line; `nil` without lines.
    package static func newestTime(in connection: ReadConnection) throws -> UnixTime? {
        try AuditRecords(connection).newestTime()
    }
}
