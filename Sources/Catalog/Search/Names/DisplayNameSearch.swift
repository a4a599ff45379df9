import Accounts
import Basics
import Database
import ObjectFilters

/// The search of words in the display names of devices and sites.
struct DisplayNameSearch: Sendable {
    private let devices: any DeviceDirectory
    private let names = KeptNames()

    init(devices: any DeviceDirectory) {
        self.devices = devices
    }

    /// Returns the filter whose words also find the objects of devices and sites by their display names.
    ///
    /// - Parameter scope: the organization; `nil` = all.
    func resolve(_ filter: ResolvedFilter, scope: Int64?, in connection: ReadConnection) throws -> ResolvedFilter {
        guard filter.hasWords else { return filter }
        let all = try names(scope: scope, in: connection)
        return filter.findingDisplayNames { Self.find($0, in: all, NameParts.name) }
    }

    /// Returns the display names of the devices of objects, for those that have one, by organization and id.
    func devices(of objects: [CatalogObject], in connection: ReadConnection) throws -> [Int64: [String: String]] {
        let ids = Dictionary(grouping: objects, by: \.owner.organizationID).mapValues {
            Set($0.compactMap(\.owner.deviceID))
        }
        return try ids.reduce(into: [:]) { names, entry in
            names[entry.key] = try devices.displayNames(
                of: entry.value.sorted(), organizationID: entry.key, in: connection)
        }
    }

    /// Returns the devices and sites whose names contain a text in lower case.
    func find(
        _ part: String, scope: Int64?, in connection: ReadConnection
    ) throws -> (devices: Set<String>, sites: Set<Int64>) {
        Self.find(part, in: try names(scope: scope, in: connection)) { ObjectFilter.Pattern.part($1).matches($0) }
    }

    private static func find(
        _ text: String, in names: [DisplayNames], _ isMatch: (_ name: String, _ text: String) -> Bool
    ) -> (devices: Set<String>, sites: Set<Int64>) {
        (
            Set(names.flatMap { $0.devices.filter { isMatch($0.name, text) }.map(\.id) }),
            Set(names.flatMap { $0.sites.filter { isMatch($0.name, text) }.map(\.id) })
        )
    }

    private func names(scope: Int64?, in connection: ReadConnection) throws -> [DisplayNames] {
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        return try organizations.map { try names(of: $0, in: connection) }
    }

    /// Returns an organization's names in lower case, which are only read if they have changed since the last search.
    private func names(of organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames {
        // Read before the names, which are therefore of this version or newer.
        let version = try devices.displayNameVersion(organizationID: organizationID, in: connection)
        if let kept = names.of(organizationID, version: version) { return kept }
        var names = try devices.displayNames(organizationID: organizationID, in: connection)
        names.devices = names.devices.map { ($0.id, $0.name.lowercasedByScalar) }
        names.sites = names.sites.map { ($0.id, $0.name.lowercasedByScalar) }
        self.names.keep(names, of: organizationID, version: version)
        return names
    }
}

/// The display names of organizations that were read last.
private final class KeptNames: Sendable {
    private struct Kept {
        let version: Int64
        let names: DisplayNames
        var count: Int { names.devices.count + names.sites.count }
    }

    /// The limit of names of all organizations, about 10 MiB.
    private static let most = 100_000

    private let kept = Lock<[Int64: Kept]>([:])

    func of(_ organizationID: Int64, version: Int64) -> DisplayNames? {
        kept.withLock { $0[organizationID].flatMap { $0.version == version ? $0.names : nil } }
    }

    func keep(_ names: DisplayNames, of organizationID: Int64, version: Int64) {
        kept.withLock { kept in
            kept[organizationID] = Kept(version: version, names: names)
            while kept.values.reduce(0, { $0 + $1.count }) > Self.most, let any = kept.keys.randomElement() {
                kept[any] = nil
            }
        }
    }
}
