import Accounts
import Basics
import Database
import GatewayAPI
import RPC
import TimeZones

/// The groups and values that a GetStorageUse request wants.
struct StorageUseQuery: Sendable {
    private static let (defaultValues, mostValues): (Int32, Int32) = (20, 1000)

    /// The only group; `nil` = all.
    let group: StorageUse.Group?
    let limit: Int
    /// The zone of months and days.
    let zone: TimeZoneRules

    /// - Throws: INVALID_ARGUMENT that names the field and the rule.
    init(groupBy: String, limit: Int32, timeZone: String, in zones: TimeZoneFolder) throws(RPCError) {
        guard (0...Self.mostValues).contains(limit) else {
            throw .invalidArgument("value_limit must be 0 to \(Self.mostValues)")
        }
        group = groupBy.isEmpty ? nil : StorageUse.Group(name: groupBy)
        guard groupBy.isEmpty || group != nil else {
            throw .invalidArgument(
                "group_by must be organization, site, device, content_type, month, day or raw_tags.KEY")
        }
        self.limit = Int(limit == 0 ? Self.defaultValues : limit)
        zone = try FieldRules.timeZone(timeZone, in: zones)
    }
}

/// The amounts that fill the store, by the sums in `object_facets`: the cost depends on the number of values, not on that of objects.
struct StorageUse: Sendable {
    enum Group: Sendable, Hashable {
        case organization, site, device, contentType, month, day
        case tag(key: String)

        init?(name: String) {
            switch name {
            case "organization": self = .organization
            case "site": self = .site
            case "device": self = .device
            case "content_type": self = .contentType
            case "month": self = .month
            case "day": self = .day
            case _ where name.hasPrefix("raw_tags.") && name != "raw_tags.": self = .tag(key: String(name.dropFirst(9)))
            default: return nil
            }
        }

        var name: String {
            switch self {
            case .organization: "organization"
            case .site: "site"
            case .device: "device"
            case .contentType: "content_type"
            case .month: "month"
            case .day: "day"
            case .tag(let key): "raw_tags.\(key)"
            }
        }
    }

    struct Value: Sendable {
        let value: String
        var displayName = ""
        let amount: Amount
    }

    struct Values: Sendable {
        let group: Group
        /// The values with most bytes first; months and days with the latest first.
        var values: [Value]
        /// The number of all values.
        let total: Int
        let isLowerBound: Bool
    }

    struct Result: Sendable {
        let listed: Amount
        /// The amount in the trash; nothing while the sums are incomplete.
        let trashed: Amount
        let groups: [Values]
        let tagKeys: [String]
        let isComplete: Bool
    }

    let database: Database
    let devices: any DeviceDirectory

    /// - Parameter scope: the organization; `nil` = all.
    func use(_ query: StorageUseQuery, scope: Int64?) async throws -> Result {
        try await database.readInBackground { connection in
            let records = StorageUseRecords(connection)
            let search = SearchRecords(connection)
            let isComplete = try search.upgraded() == nil && search.withoutBytes() == nil
            let listed = try records.listed(scope: scope)
            let stored = try StatisticsRecords(connection).stored(before: .max, scope: scope)
            let all: [Group] = (scope == nil ? [.organization] : []) + [.site, .device, .contentType, .month]
            let organizations = try scope.map { [$0] } ?? records.largestOrganizations()
            let groups = try (query.group.map { [$0] } ?? all).map { group in
                try values(of: group, query, organizations, scope, records)
            }
            return Result(
                listed: listed,
                trashed: isComplete
                    ? Amount(
                        objects: max(0, stored.objects - listed.objects), bytes: max(0, stored.bytes - listed.bytes))
                    : Amount(),
                groups: groups, tagKeys: try records.tagKeys(of: organizations), isComplete: isComplete)
        }
    }

    private func values(
        of group: Group, _ query: StorageUseQuery, _ organizations: [Int64], _ scope: Int64?,
        _ records: StorageUseRecords
    ) throws -> Values {
        var isLowerBound = scope == nil && organizations.count == StorageUseRecords.mostOrganizations
        func largest(_ kind: FacetKind, _ key: String = "") throws -> [(String, Amount)] {
            let found = try records.amounts(kind, key, of: organizations)
            isLowerBound = isLowerBound || found.isLowerBound
            return found.amounts.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
        }
        let found: [(String, Amount)] =
            switch group {
            case .organization: try records.organizations(organizations)
            case .site: try largest(.site)
            case .device: try largest(.device)
            case .contentType: try largest(.contentType)
            case .tag(let key): try largest(.tag, key)
            case .month, .day: try periods(group, query.zone, scope, records.connection)
            }
        var values = found.prefix(query.limit).map { Value(value: $0, amount: $1) }
        if group == .site || group == .device {
            let names = try names(of: values.map(\.value), group, organizations, records.connection)
            for index in values.indices { values[index].displayName = names[values[index].value] ?? "" }
        }
        return Values(group: group, values: values, total: found.count, isLowerBound: isLowerBound)
    }

    private func periods(
        _ group: Group, _ zone: TimeZoneRules, _ scope: Int64?, _ connection: ReadConnection
    ) throws -> [(String, Amount)] {
        var periods: [String: Amount] = [:]
        for (day, amount) in try FacetRecords(connection).amountsOfDays(in: zone, scope: scope) {
            let date = CivilTime(UnixTime(seconds: day * TimeZoneRules.day)).date()
            let period = group == .day ? date : String(date.dropLast(3))
            periods[period, default: Amount()].objects += amount.objects
            periods[period, default: Amount()].bytes += amount.bytes
        }
        return periods.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns the names of sites or devices, by their values.
    private func names(
        of values: [String], _ group: Group, _ organizations: [Int64], _ connection: ReadConnection
    ) throws -> [String: String] {
        guard group == .device else { return try Accounts.siteNames(values.compactMap { Int64($0) }, in: connection) }
        var names: [String: String] = [:]
        for id in organizations {
            names.merge(try devices.displayNames(of: values, organizationID: id, in: connection)) { first, _ in first }
        }
        return names
    }
}
