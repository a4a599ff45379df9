import Accounts
import Basics
import Database
import FoundationEssentials
import GatewayAPI

/// A stored device.
struct DeviceRecord: Sendable {
    let id: String
    let organizationID: Int64
    /// The suite and site of the device; both are `nil` while it is unbound.
    let suiteID: Int64?
    let siteID: Int64?
    let displayName: String
    let description: String
    let tags: [String: String]
    let isDisabled: Bool
    /// The time at which it first received a key; `nil` = never.
    let initializedAt: UnixTime?
    let sdkVersion: String
    let platform: String
    /// The last use of its key, or its last init, to the minute; `nil` = never.
    let lastSeenAt: UnixTime?
    /// The time until which an operator permits to replace a key in use.
    let reinitAllowedUntil: UnixTime?
    /// The time at which it was retired; `nil` = it is in use. A retired device has no suite and no key.
    var retiredAt: UnixTime?
    /// Whether it received a key before it was retired and returned to use.
    var hadKey = false
    let createdAt: UnixTime
    let updatedAt: UnixTime
    /// The announcement of addresses that the device took last, 0 = none; `nil` = its client does not read announcements.
    let addressSerial: Int64?
    /// The time at which an operator requested that it replace its key; `nil` = not requested, or done.
    var keyRotationRequestedAt: UnixTime?
    /// The difference of its clock when it was last wrong; `nil` = it never was.
    var clock: DeviceClock?
    /// The time without a call after which it is reported as silent; 0 = never, `nil` = that of its suite.
    var silentAfterHours: Int64?
    /// Its last call, if it is reported as silent; `nil` = it is not.
    var silentSince: UnixTime?

    /// The suite and site of the device; `nil` while it is unbound.
    var place: DeviceKeys.Place? {
        guard let suiteID, let siteID else { return nil }
        return DeviceKeys.Place(deviceID: id, suiteID: suiteID, siteID: siteID, organizationID: organizationID)
    }
}

/// A difference of a device's clock from the gateway's.
struct DeviceClock: Sendable, Hashable {
    /// The seconds that it is ahead.
    let offset: Int64
    let notedAt: UnixTime
}

/// The filter of a list of devices; `nil` = any, and any status but retired.
struct DeviceFilter: Sendable, Hashable {
    enum Status: String, Sendable {
        case registered
        case initialized
        case disabled
        case retired
    }

    var suiteID: Int64?
    var siteID: Int64?
    var status: Status?
    /// Devices that were not seen since this time, nor got their first key since.
    var silentSince: UnixTime?
    var lastSeenSince: UnixTime?
    /// Devices that were never seen do not match.
    var lastSeenBefore: UnixTime?
    /// The beginning of the version.
    var sdkVersion = ""
    /// Whether only devices match that are reported as silent.
    var isReportedSilent = false
    /// Devices that completed no upload since this time, nor got their first key since.
    var noUploadSince: UnixTime?
}

/// The order of a list of devices.
struct DeviceOrder: Sendable, Hashable {
    enum Key: String, Sendable {
        case id = "device_id"
        case name = "display_name"
        case lastSeen = "last_seen_at"

        /// The expression in the key's index.
        fileprivate var sql: String {
            switch self {
            case .id: "d.id"
            case .name: "lower(d.display_name)"
            case .lastSeen: "coalesce(d.last_seen_at, 0)"
            }
        }
    }

    /// The place of a device in a list, after which the next page begins.
    struct Position: Sendable, Hashable {
        let key: String
        let deviceID: String
    }

    var key = Key.id
    var isDescending = false

    /// Returns the position in a page token; `nil` for a malformed one.
    func position(_ text: String) -> Position? {
        guard let space = text.firstIndex(of: " ") else { return nil }
        let position = Position(key: String(text[text.index(after: space)...]), deviceID: String(text[..<space]))
        return key == .lastSeen && Int64(position.key) == nil ? nil : position
    }

    fileprivate func bindable(_ position: Position) -> any Bindable {
        key == .lastSeen ? Int64(position.key) ?? 0 : position.key
    }

    fileprivate func position(_ row: Row) -> Position {
        Position(
            key: key == .lastSeen ? "\(row.int64("sort_key"))" : row.text("sort_key"), deviceID: row.text("id"))
    }
}

extension DeviceOrder.Position {
    /// The text in a page token.
    var text: String { "\(deviceID) \(key)" }
}

/// The times of devices' latest uploads, in a list.
struct LatestUpload: Sendable {
    /// The expression of ``DeviceUploads/latestUpload``.
    let sql: String
    /// Whether the devices of the list have them.
    let isListed: Bool
}

/// A device in a list.
struct ListedDevice: Sendable {
    let device: DeviceRecord
    let position: DeviceOrder.Position
    /// The completion of its latest upload, if it was asked for; `nil` = it has none.
    let lastUploadAt: UnixTime?
}

/// The name, description and tags that operators give a device.
struct DeviceLabels: Sendable, Hashable {
    var displayName: String
    var description: String
    var tags: [String: String]
}

private let columns = """
    d.id, d.organization_id, d.suite_id, s.site_id, d.display_name, d.description, d.tags, d.is_disabled,
        d.initialized_at, d.sdk_version, d.platform, d.last_seen_at, d.reinit_allowed_until, d.retired_at, d.had_key,
        d.created_at, d.updated_at, a.serial AS address_serial,
        r.requested_at AS key_rotation_requested_at, d.clock_offset, d.clock_noted_at, d.silent_after_hours, d.silent_since
    """

private let tables = """
    FROM devices d LEFT JOIN device_suites s ON s.id = d.suite_id
        LEFT JOIN device_address_serials a ON a.device_id = d.id
        LEFT JOIN api_keys k ON k.device_id = d.id
        LEFT JOIN device_key_rotations r ON r.key_id = k.id
    """

private let select = "SELECT \(columns) \(tables)"

/// The information about devices for the management of keys.
struct DeviceRecordDirectory: DeviceDirectory {
    func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice? {
        guard let device = try DeviceRecords(connection).find(DeviceID(id), organizationID: organizationID) else {
            return nil
        }
        return DirectoryDevice(place: device.place, isDisabled: device.isDisabled)
    }

    func displayNames(organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames {
        DisplayNames(
            devices: try connection.query(
                "SELECT id, display_name FROM devices WHERE organization_id = $1 AND display_name <> ''", organizationID
            ) { (id: $0.text("id"), name: $0.text("display_name")) },
            sites: try connection.query("SELECT id, name FROM sites WHERE organization_id = $1", organizationID) {
                (id: $0.int64("id"), name: $0.text("name"))
            })
    }

    func displayNames(
        of ids: [String], organizationID: Int64, in connection: ReadConnection
    ) throws -> [String: String] {
        try DeviceRecords(connection).displayNames(of: ids, organizationID: organizationID)
    }

    func displayNameVersion(organizationID: Int64, in connection: ReadConnection) throws -> Int64 {
        try DisplayNameRecords(connection).version(organizationID: organizationID)
    }

    func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String> {
        guard !ids.isEmpty else { return [] }
        let ids = ParameterList.padded(ids)
        return Set(
            try connection.query(
                "SELECT id FROM devices WHERE id IN (\(ParameterList.text(ids.count))) AND retired_at IS NOT NULL",
                arguments: ids, row: { $0.text("id") }))
    }

    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws {
        try connection.execute(
            "UPDATE devices SET initialized_at = coalesce(initialized_at, $2), updated_at = $2 WHERE id = $1", id,
            now.microseconds)
    }
}

struct DeviceRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(_ id: DeviceID) throws -> DeviceRecord? {
        try connection.first("\(select) WHERE d.id = $1", id.text, row: Self.record)
    }

    /// Returns a device of that organization; does not find devices of other organizations.
    func find(_ id: DeviceID, organizationID: Int64) throws -> DeviceRecord? {
        try connection.first(
            "\(select) WHERE d.id = $1 AND d.organization_id = $2", id.text, organizationID, row: Self.record)
    }

    /// Returns the display names of those devices of the organization that have one.
    func displayNames(of ids: [String], organizationID: Int64) throws -> [String: String] {
        var names: [String: String] = [:]
        for start in stride(from: 0, to: ids.count, by: 100) {
            let some = ParameterList.padded(Array(ids[start..<min(start + 100, ids.count)]))
            let rows = try connection.query(
                """
                SELECT id, display_name FROM devices
                WHERE organization_id = $1 AND id IN (\(ParameterList.text(some.count, from: 2))) AND display_name <> ''
                """, arguments: [organizationID] + some
            ) { ($0.text("id"), $0.text("display_name")) }
            names.merge(rows) { $1 }
        }
        return names
    }

    /// - Returns: `false` if the id is taken.
    func insert(
        _ id: DeviceID, _ labels: DeviceLabels, organizationID: Int64, suiteID: Int64?, at now: UnixTime
    ) throws -> Bool where C == Connection {
        let inserted = try connection.execute(
            """
            INSERT INTO devices (id, organization_id, suite_id, display_name, description, tags, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT DO NOTHING
            """, id.text, organizationID, suiteID, labels.displayName, labels.description, try Self.encode(labels.tags),
            now.microseconds)
        guard inserted == 1 else { return false }
        if !labels.displayName.isEmpty {
            try DisplayNameRecords(connection).noteChange(organizationID: organizationID)
        }
        return true
    }

    func setLabels(
        _ labels: DeviceLabels, of id: DeviceID, organizationID: Int64, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET display_name = $2, description = $3, tags = $4, updated_at = $5 WHERE id = $1", id.text,
            labels.displayName, labels.description, try Self.encode(labels.tags), now.microseconds)
        try DisplayNameRecords(connection).noteChange(organizationID: organizationID)
    }

    func setSilenceLimit(_ limit: SilenceLimit, of id: DeviceID, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET silent_after_hours = $2, updated_at = $3 WHERE id = $1", id.text, limit.hours,
            now.microseconds)
    }

    func setDisabled(_ id: DeviceID, _ isDisabled: Bool, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET is_disabled = $2, updated_at = $3 WHERE id = $1", id.text, isDisabled,
            now.microseconds)
    }

    func bind(_ id: DeviceID, toSuite suiteID: Int64?, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET suite_id = $2, updated_at = $3 WHERE id = $1", id.text, suiteID, now.microseconds)
    }

    /// Removes the device from its suite and from lists.
    func retire(_ id: DeviceID, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE devices SET retired_at = $2, suite_id = NULL, reinit_allowed_until = NULL, updated_at = $2
            WHERE id = $1
            """, id.text, now.microseconds)
    }

    /// Makes a retired device one that has not received a key yet.
    func unretire(_ id: DeviceID, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE devices SET retired_at = NULL, is_disabled = 0, initialized_at = NULL, updated_at = $2,
                had_key = (CASE WHEN had_key = 1 OR initialized_at IS NOT NULL THEN 1 ELSE 0 END)
            WHERE id = $1
            """, id.text, now.microseconds)
    }

    func allowReinit(
        _ id: DeviceID, until end: UnixTime, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET reinit_allowed_until = $2, updated_at = $3 WHERE id = $1", id.text, end.microseconds,
            now.microseconds)
    }

    /// Records that the device received a key, which uses up a permission to replace one, if the columns that the decision depends
    /// on are unchanged since they were read.
    ///
    /// - Returns: whether it was recorded; if not, the transaction must be rolled back.
    func noteInitialization(
        of device: DeviceRecord, sdkVersion: String, platform: String, at now: UnixTime
    ) throws -> Bool where C == Connection {
        let tags = try connection.first(
            """
            UPDATE devices SET initialized_at = coalesce(initialized_at, $2), last_seen_at = $2, sdk_version = $3,
                platform = $4, reinit_allowed_until = NULL
            WHERE id = $1 AND coalesce(suite_id, -1) = $5 AND is_disabled = $6 AND coalesce(initialized_at, -1) = $7
                AND coalesce(reinit_allowed_until, -1) = $8
            RETURNING tags
            """, device.id, now.microseconds, sdkVersion, platform, device.suiteID ?? -1, device.isDisabled,
            device.initializedAt?.microseconds ?? -1, device.reinitAllowedUntil?.microseconds ?? -1
        ) { $0.text("tags") }
        // Compared as dictionaries, because the order of keys in the text is arbitrary.
        return try tags.map(Self.decode) == device.tags
    }

    /// Records that the device was heard of.
    func noteSeen(_ id: DeviceID, at time: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET last_seen_at = $2 WHERE id = $1 AND coalesce(last_seen_at, 0) < $2", id.text,
            time.microseconds)
    }

    /// Records the number of seconds by which the device's clock is ahead.
    func noteClock(offset: Int64, of id: DeviceID, at time: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE devices SET clock_offset = $2, clock_noted_at = $3 WHERE id = $1", id.text, offset,
            time.microseconds)
    }

    func delete(_ id: DeviceID) throws where C == Connection {
        try connection.execute("DELETE FROM devices WHERE id = $1", id.text)
    }

    /// Returns devices after a position; `nil` = from the first one on.
    func page(
        organizationID: Int64, filter: DeviceFilter, by order: DeviceOrder, after position: DeviceOrder.Position?,
        limit: PageLimit, latestUpload: LatestUpload
    ) throws -> PageRows<ListedDevice> {
        var (condition, arguments) = Self.condition(filter, [organizationID], latestUpload: latestUpload.sql)
        let (key, direction, sign) = (order.key.sql, order.isDescending ? " DESC" : "", order.isDescending ? "<" : ">")
        if let position {
            arguments.append(position.deviceID)
            let id = "$\(arguments.count)"
            if order.key == .id {
                condition += " AND d.id \(sign) \(id)"
            } else {
                arguments.append(order.bindable(position))
                condition += " AND (\(key), d.id) \(sign) ($\(arguments.count), \(id))"
            }
        }
        arguments.append(limit.statementRows)
        let keys = order.key == .id ? ["d.id"] : [key, "d.id"]
        condition += " ORDER BY \(keys.map { "\($0)\(direction)" }.joined(separator: ", ")) LIMIT $\(arguments.count)"
        let times = latestUpload.isListed ? ", \(latestUpload.sql) AS last_upload_at" : ""
        let selected = "\(columns), \(key) AS sort_key\(times)"
        return try connection.page(limit, "SELECT \(selected) \(tables) \(condition)", arguments: arguments) { row in
            ListedDevice(
                device: try Self.record(row), position: order.position(row),
                lastUploadAt: latestUpload.isListed ? row.optionalTime("last_upload_at") : nil)
        }
    }

    /// Returns the ids of all devices that match.
    func ids(organizationID: Int64, filter: DeviceFilter) throws -> [String] {
        let (condition, arguments) = Self.condition(filter, [organizationID])
        return try connection.query(
            "SELECT d.id FROM devices d LEFT JOIN device_suites s ON s.id = d.suite_id \(condition)",
            arguments: arguments
        ) { $0.text("id") }
    }

    /// Returns a condition for the devices of an organization that match.
    ///
    /// - Parameters:
    ///   - first: the arguments before those of the filter; the first one is the organization's id.
    ///   - latestUpload: see ``DeviceUploads/latestUpload``.
    private static func condition(
        _ filter: DeviceFilter, _ first: [(any Bindable)?], latestUpload: String = "NULL"
    ) -> (sql: String, arguments: [(any Bindable)?]) {
        var sql = "WHERE d.organization_id = $1"
        var arguments = first
        func require(_ condition: (String) -> String, _ value: any Bindable) {
            arguments.append(value)
            sql += " AND \(condition("$\(arguments.count)"))"
        }
        if let suite = filter.suiteID { require({ "d.suite_id = \($0)" }, suite) }
        if let site = filter.siteID { require({ "s.site_id = \($0)" }, site) }
        if let time = filter.silentSince {
            require({ "d.initialized_at <= \($0) AND coalesce(d.last_seen_at, 0) <= \($0)" }, time.microseconds)
        }
        if let time = filter.noUploadSince {
            require({ "d.initialized_at <= \($0) AND coalesce(\(latestUpload), 0) <= \($0)" }, time.microseconds)
        }
        if let time = filter.lastSeenSince { require({ "coalesce(d.last_seen_at, 0) >= \($0)" }, time.microseconds) }
        if let time = filter.lastSeenBefore {
            require({ "d.last_seen_at IS NOT NULL AND coalesce(d.last_seen_at, 0) < \($0)" }, time.microseconds)
        }
        if !filter.sdkVersion.isEmpty {
            require({ "substr(d.sdk_version, 1, length(CAST(\($0) AS TEXT))) = \($0)" }, filter.sdkVersion)
        }
        if filter.isReportedSilent { sql += " AND d.silent_since IS NOT NULL" }
        switch filter.status {
        case .registered: sql += " AND d.is_disabled = 0 AND d.initialized_at IS NULL"
        case .initialized: sql += " AND d.is_disabled = 0 AND d.initialized_at IS NOT NULL"
        case .disabled: sql += " AND d.is_disabled = 1"
        case .retired, nil: break
        }
        sql += " AND d.retired_at IS \(filter.status == .retired ? "NOT NULL" : "NULL")"
        return (sql, arguments)
    }

    private static func record(_ row: Row) throws -> DeviceRecord {
        DeviceRecord(
            id: row.text("id"), organizationID: row.int64("organization_id"), suiteID: row.optionalInt64("suite_id"),
            siteID: row.optionalInt64("site_id"),
            displayName: row.text("display_name"), description: row.text("description"),
            tags: try decode(row.text("tags")), isDisabled: row.bool("is_disabled"),
            initializedAt: row.optionalTime("initialized_at"), sdkVersion: row.text("sdk_version"),
            platform: row.text("platform"), lastSeenAt: row.optionalTime("last_seen_at"),
            reinitAllowedUntil: row.optionalTime("reinit_allowed_until"),
            retiredAt: row.optionalTime("retired_at"), hadKey: row.bool("had_key"), createdAt: row.time("created_at"),
            updatedAt: row.time("updated_at"), addressSerial: row.optionalInt64("address_serial"),
            keyRotationRequestedAt: row.optionalTime("key_rotation_requested_at"), clock: clock(row),
            silentAfterHours: row.optionalInt64("silent_after_hours"), silentSince: row.optionalTime("silent_since"))
    }

    private static func clock(_ row: Row) -> DeviceClock? {
        guard let offset = row.optionalInt64("clock_offset"), let time = row.optionalTime("clock_noted_at") else {
            return nil
        }
        return DeviceClock(offset: offset, notedAt: time)
    }

    private static func encode(_ tags: [String: String]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(tags), as: UTF8.self)
    }

    private static func decode(_ tags: String) throws -> [String: String] {
        tags == "{}" ? [:] : try JSONDecoder().decode([String: String].self, from: Data(tags.utf8))
    }
}
