package import Basics
package import Database

/// A stored line of the audit log.
package struct AuditRecord: Sendable {
    /// Increases in the order of commits.
    package let id: Int64
    package let at: UnixTime
    package internal(set) var entry: AuditEntry
    /// The number of lines that it combines.
    package internal(set) var lines = 1
    /// The time of the oldest of them; `nil` if it is one line.
    package internal(set) var firstAt: UnixTime?
}

/// The lines that a list reads.
package struct AuditQuery: Sendable {
    /// `nil` = all.
    let organizationID: Int64?
    /// Older lines are omitted. Compared row by row, because the index by time has another order.
    let since: UnixTime
    let filter: AuditFilter
    let newestFirst: Bool

    init(organizationID: Int64?, since: UnixTime, filter: AuditFilter, newestFirst: Bool) {
        self.organizationID = organizationID
        self.since = since
        self.filter = filter
        self.newestFirst = newestFirst
    }

    /// Makes the query for the lines of all organizations, oldest first.
    package init(since: UnixTime) {
        self.init(organizationID: nil, since: since, filter: AuditFilter(), newestFirst: false)
    }

    /// The order of ids.
    var order: String { newestFirst ? "DESC" : "ASC" }

    /// Returns the conditions that an index decides.
    ///
    /// - Parameter arguments: receives the arguments, whose placeholders follow those that it has.
    func indexedConditions(of ids: Range<Int64>, _ arguments: inout [(any Bindable)?]) -> [String] {
        arguments += [ids.lowerBound, ids.upperBound]
        let range = "id >= $\(arguments.count - 1) AND id < $\(arguments.count)"
        guard let organizationID else { return [range] + filter.kindConditions }
        arguments.append(organizationID)
        return ["organization_id = $\(arguments.count)", range] + filter.kindConditions
    }
}

/// Times are taken before lines wait for their commit, so a line may be older than the one before it by this much.
private let slack = Duration.seconds(60)

package struct AuditRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    package func insert(_ entry: AuditEntry, at now: UnixTime) throws where C == Connection {
        let ids = entry.ids.joined(separator: " ")
        try connection.executeSoon(
            """
            INSERT INTO audit (at, actor, organization_id, organization, action, target, ids, peer, result, count)
            VALUES ($1, $2, $3, coalesce(nullif($4, ''), (SELECT name FROM organizations WHERE id = $3), ''), $5, $6, $7, $8,
                $9, $10)
            """, now.microseconds, entry.actor, entry.organization?.id ?? 0, entry.organization?.name ?? "",
            entry.action, entry.target, ids, entry.peer, entry.result, entry.count)
        try connection.executeSoon(
            """
            INSERT INTO audit_usage (organization_id, lines) VALUES ($1, 1 + CAST($2 AS BIGINT) / 200)
            ON CONFLICT (organization_id) DO UPDATE SET lines = audit_usage.lines + excluded.lines
            """, entry.organization?.id ?? 0, ids.utf8.count)
    }

    /// Returns an id below which all lines are older than `since`.
    package func start(since: UnixTime) throws -> Int64 {
        let first = try connection.first(
            "SELECT id FROM audit WHERE at >= $1 ORDER BY at, id LIMIT 1",
            since.subtracting(slack).microseconds
        ) { $0.int64("id") }
        return try first ?? lastID() + 1
    }

    /// Returns the id below which every line is older than `age`.
    package func start(keeping age: Duration, _ permit: DeletionPermit) throws -> Int64 {
        let oldest = try permit.now().subtracting(age)
        // Lines whose recorded time is too early may come after lines that are younger.
        let young = try connection.first(
            "SELECT min(id) AS young FROM audit WHERE at < $1 AND NOT \(permit.isBefore("at", "$1"))",
            oldest.microseconds
        ) { $0.optionalInt64("young") }
        let start = try start(since: oldest)
        return min(start, young.flatMap { $0 } ?? start)
    }

    /// Returns the time of the newest line; `nil` without lines.
    package func newestTime() throws -> UnixTime? {
        try connection.first("SELECT at FROM audit ORDER BY id DESC LIMIT 1") { $0.time("at") }
    }

    /// Returns the lines of a range of ids. Lines that differ from the filter in upper and lower case may be among them.
    package func page(_ query: AuditQuery, in ids: Range<Int64>, limit: PageLimit) throws -> PageRows<AuditRecord> {
        var arguments: [(any Bindable)?] = [query.since.microseconds]
        let conditions =
            ["+at >= $1"] + query.indexedConditions(of: ids, &arguments) + query.filter.conditions(&arguments)
        arguments.append(limit.statementRows)
        return try connection.page(
            limit,
            """
            SELECT id, at, actor, organization_id, organization, action, target, ids, peer, result, count FROM audit
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY id \(query.order) LIMIT $\(arguments.count)
            """, arguments: arguments, row: Self.record)
    }

    /// - Parameter organizationID: the organization of the line; `nil` = any.
    func find(id: Int64, organizationID: Int64?) throws -> AuditRecord? {
        try connection.first(
            """
            SELECT id, at, actor, organization_id, organization, action, target, ids, peer, result, count FROM audit
            WHERE id = $1 AND organization_id = coalesce($2, organization_id)
            """, id, organizationID, row: Self.record)
    }

    /// Returns the id of the line with which a search of a range of ids ends that compares `count` lines; `nil` if the range has
    /// fewer.
    func end(_ query: AuditQuery, in ids: Range<Int64>, count: Int) throws -> Int64? {
        var arguments: [(any Bindable)?] = [count - 1]
        let conditions = query.indexedConditions(of: ids, &arguments)
        return try connection.query(
            """
            SELECT id FROM audit WHERE \(conditions.joined(separator: " AND ")) ORDER BY id \(query.order)
            LIMIT 1 OFFSET $1
            """, arguments: arguments
        ) { $0.int64("id") }.first
    }

    /// Returns an id from which all lines are of `until` or later.
    func end(until: UnixTime) throws -> Int64 {
        try start(since: until.adding(slack + slack))
    }

    /// Returns the id of the newest line; 0 without lines.
    package func lastID() throws -> Int64 {
        try connection.first("SELECT id FROM audit ORDER BY id DESC LIMIT 1") { $0.int64("id") } ?? 0
    }

    /// Returns the ids of an organization's oldest lines, ascending.
    package func oldest(
        _ count: Int64, of organizationID: Int64, below id: Int64
    ) throws -> [Int64] {
        try connection.query(
            "SELECT id FROM audit WHERE organization_id = $1 AND id < $2 ORDER BY id LIMIT $3", organizationID, id,
            max(0, count)
        ) { $0.int64("id") }
    }

    /// Deletes all lines of an organization with a lower id, which is the only deletion that the schema permits.
    package func purge(below id: Int64, of organizationID: Int64) throws where C == Connection {
        try connection.execute(
            """
            UPDATE audit_usage SET purged_below = $2, lines = lines - (
                SELECT coalesce(sum(1 + length(ids) / 200), 0) FROM audit WHERE organization_id = $1 AND id < $2
            ) WHERE organization_id = $1
            """, organizationID, id)
        try connection.execute("DELETE FROM audit WHERE organization_id = $1 AND id < $2", organizationID, id)
    }

    private static func record(_ row: Row) -> AuditRecord {
        let organization = OrganizationReference(id: row.int64("organization_id"), name: row.text("organization"))
        var entry = AuditEntry(
            actor: row.text("actor"), organization: organization.name.isEmpty ? nil : organization,
            action: row.text("action"), target: row.text("target"), peer: row.text("peer"), result: row.text("result"))
        entry.ids = row.text("ids").split(separator: " ").map(String.init)
        entry.count = row.int("count")
        return AuditRecord(id: row.int64("id"), at: row.time("at"), entry: entry)
    }
}

/// The number of audit lines of each organization. The organization 0 stands for lines without one.
struct AuditUsageRecords {
    struct Usage: Sendable {
        let organizationID: Int64
        /// The number of lines. A line with ids counts as several: one more for every 200 bytes of ids.
        let lines: Int64
    }

    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    func lines(of organizationID: Int64) throws -> Int64 {
        try connection.first(
            "SELECT lines FROM audit_usage WHERE organization_id = $1", organizationID
        ) { $0.int64("lines") } ?? 0
    }

    func all() throws -> [Usage] {
        try connection.query("SELECT organization_id, lines FROM audit_usage ORDER BY organization_id") {
            Usage(organizationID: $0.int64("organization_id"), lines: $0.int64("lines"))
        }
    }
}
