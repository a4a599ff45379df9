import Accounts
import Basics
import Database

/// A device that is to be reported as silent, or no longer.
struct DeviceSilence: Sendable, Hashable {
    let deviceID: String
    let displayName: String
    let organization: OrganizationReference
    /// The device's suite and site; `nil` while it is unbound.
    let suiteID: Int64?
    let siteID: Int64?
    let lastSeenAt: UnixTime
    /// The last call before the report; `nil` = the device is not reported.
    let silentSince: UnixTime?
    /// The time without a call after which it is reported, in hours.
    let limitHours: Int64

    /// Whether the device called after it was reported.
    var hasReturned: Bool { silentSince.map { lastSeenAt > $0 } ?? false }
}

/// The SQL of reports about silent devices.
struct SilenceRecords<C: ReadConnection> {
    let connection: C
    /// The limit of devices for which nobody set one, in hours; 0 = never.
    let defaultHours: Int64

    init(_ connection: C, defaultHours: Int64) {
        self.connection = connection
        self.defaultHours = defaultHours
    }

    /// Returns devices in use that were not heard of for longer than their limit and are not reported. Devices that cannot call, because
    /// an operator prevents it, and those that never called are not among them.
    ///
    /// - Parameter ids: only these devices; `nil` = all.
    func overdue(
        _ permit: DeletionPermit, _ watch: SilenceWatch, among ids: [String]? = nil, limit: Int
    ) throws -> [DeviceSilence] {
        let now = try permit.now()
        var arguments: [(any Bindable)?] = [
            defaultHours, limit, now.microseconds, watch.resumedAt.microseconds, watch.pauseMicroseconds,
            now.subtracting(.hours(1)).microseconds,
        ]
        return try connection.query(
            """
            SELECT \(Self.columns) FROM organizations o
                JOIN devices d ON d.organization_id = o.id AND coalesce(d.last_seen_at, 0) < $6
                JOIN device_suites s ON s.id = d.suite_id JOIN sites t ON t.id = s.site_id
            WHERE d.silent_since IS NULL AND d.last_seen_at IS NOT NULL AND \(Self.isReportable)
                AND \(Self.isOverdue(permit))\(Self.condition(ids, &arguments))
            LIMIT $2
            """, arguments: arguments, row: Self.silence)
    }

    /// Returns reported devices that called since, or are no longer to be reported.
    ///
    /// - Parameters:
    ///   - permit: `nil` = nothing is compared with the current time.
    ///   - ids: only these devices; `nil` = all.
    func outdated(
        _ permit: DeletionPermit?, _ watch: SilenceWatch, among ids: [String]? = nil, limit: Int
    ) throws -> [DeviceSilence] {
        var arguments: [(any Bindable)?] = [defaultHours, limit]
        var isInTime = ""
        if let permit {
            arguments += [try permit.now().microseconds, watch.resumedAt.microseconds, watch.pauseMicroseconds]
            isInTime = " OR NOT \(Self.isOverdue(permit))"
        }
        return try connection.query(
            """
            SELECT \(Self.columns) FROM devices d JOIN organizations o ON o.id = d.organization_id
                LEFT JOIN device_suites s ON s.id = d.suite_id LEFT JOIN sites t ON t.id = s.site_id
            WHERE d.silent_since IS NOT NULL AND (
                d.last_seen_at > d.silent_since OR NOT (\(Self.isReportable))\(isInTime)
            )\(Self.condition(ids, &arguments))
            LIMIT $2
            """, arguments: arguments, row: Self.silence)
    }

    /// Reports devices as silent since their last call.
    func report(_ ids: [String]) throws where C == Connection {
        let ids = ParameterList.padded(ids)
        try connection.execute(
            "UPDATE devices SET silent_since = last_seen_at WHERE id IN (\(ParameterList.text(ids.count)))",
            arguments: ids)
    }

    func withdraw(_ ids: [String]) throws where C == Connection {
        let ids = ParameterList.padded(ids)
        try connection.execute(
            "UPDATE devices SET silent_since = NULL WHERE id IN (\(ParameterList.text(ids.count)))", arguments: ids)
    }

    /// Returns the recorded watch; `nil` = there was no look yet.
    func watch() throws -> SilenceWatch? {
        try connection.first("SELECT looked_at, resumed_at, pause_seconds FROM silence_watch") { SilenceWatch($0) }
    }

    func record(_ watch: SilenceWatch) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO silence_watch (id, looked_at, resumed_at, pause_seconds) VALUES (1, $1, $2, $3)
            ON CONFLICT (id) DO UPDATE SET looked_at = excluded.looked_at, resumed_at = excluded.resumed_at,
                pause_seconds = excluded.pause_seconds
            """, watch.lookedAt.microseconds, watch.resumedAt.microseconds, watch.pause.wholeSeconds)
    }

    /// The limit of a device, in hours. $1: the default.
    private static var limit: String {
        "coalesce(d.silent_after_hours, s.silent_after_hours, t.silent_after_hours, $1)"
    }

    private static var columns: String {
        """
        d.id, d.display_name, d.organization_id, o.name AS organization, d.suite_id, s.site_id, d.last_seen_at,
            d.silent_since, \(limit) AS limit_hours
        """
    }

    /// Whether the device can call, and somebody wants to know if it does not.
    private static var isReportable: String {
        """
        d.initialized_at IS NOT NULL AND d.is_disabled = 0 AND d.retired_at IS NULL AND coalesce(t.status, 2) = 1
            AND \(limit) > 0
        """
    }

    /// Whether the last call is longer ago than the limit. $3: the current time, $4: the end of the latest pause, $5: its length.
    private static func isOverdue(_ permit: DeletionPermit) -> String {
        let pause = "(CASE WHEN d.last_seen_at < $4 THEN CAST($5 AS BIGINT) ELSE 0 END)"
        return permit.isBefore("d.last_seen_at", "($3 - \(limit) * 3600000000 - \(pause))")
    }

    private static func condition(_ ids: [String]?, _ arguments: inout [(any Bindable)?]) -> String {
        guard let ids else { return "" }
        let first = arguments.count + 1
        let padded = ParameterList.padded(ids)
        arguments += padded
        return " AND d.id IN (\(ParameterList.text(padded.count, from: first)))"
    }

    private static func silence(_ row: Row) -> DeviceSilence {
        DeviceSilence(
            deviceID: row.text("id"), displayName: row.text("display_name"),
            organization: OrganizationReference(id: row.int64("organization_id"), name: row.text("organization")),
            suiteID: row.optionalInt64("suite_id"), siteID: row.optionalInt64("site_id"),
            lastSeenAt: row.time("last_seen_at"), silentSince: row.optionalTime("silent_since"),
            limitHours: row.int64("limit_hours"))
    }
}
