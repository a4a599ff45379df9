import Accounts
import Basics
import Database
import ObjectFilters

/// The search of words in the display names of devices and sites.
struct DisplayNameSearch: Sendable {
    let devices: any DeviceDirectory

    /// Returns the filter whose words also find the objects of devices and sites by their display names.
    ///
    /// - Parameter scope: the organization; `nil` = all.
    func resolve(_ filter: ResolvedFilter, scope: Int64?, in connection: ReadConnection) throws -> ResolvedFilter {
        guard filter.hasWords else { return filter }
        var names = DisplayNames(devices: [], sites: [])
        for organizationID in try scope.map({ [$0] }) ?? SearchRecords(connection).organizations() {
            let some = try devices.displayNames(organizationID: organizationID, in: connection)
            names.devices += some.devices.map { ($0.id, $0.name.lowercasedByScalar) }
            names.sites += some.sites.map { ($0.id, $0.name.lowercasedByScalar) }
        }
        return filter.findingDisplayNames { word in
            (
                Set(names.devices.lazy.filter { NameParts.name($0.name, has: word) }.map(\.id)),
                Set(names.sites.lazy.filter { NameParts.name($0.name, has: word) }.map(\.id))
            )
        }
    }
}
