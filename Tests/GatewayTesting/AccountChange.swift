import Accounts
import Basics
package import Database

/// A change of a device's key or site, by an operator or another call.
package enum AccountChange: Sendable {
    case siteDisabled
    case keyDisabled
    case keyHeld
    case keyExpired
    case keyUsed
    case keyDeleted
    case keyReplaced

    private static let start = UnixTime(microseconds: 1)

    /// Applies the change to the key of a device, which has to exist, or to the organization's sites.
    package func apply(device id: String, organization: Int64, in connection: Connection) throws {
        if self == .siteDisabled {
            for site in try SiteRecords(connection).page(organizationID: organization, limit: .unlimited).rows {
                _ = try SiteRecords(connection).update(
                    id: site.id, name: site.name, status: .disabled, at: Self.start)
            }
            return
        }
        guard let key = try APIKeyRecords(connection).find(deviceID: id) else {
            throw AccountRows.Missing(name: id)
        }
        switch self {
        case .siteDisabled: break
        case .keyDisabled: try update(key, status: .disabled, expiresAt: nil, in: connection)
        case .keyHeld: try APIKeyRecords(connection).setHeld(deviceID: id, true, at: Self.start)
        case .keyExpired: try update(key, status: .enabled, expiresAt: Self.start, in: connection)
        case .keyUsed: try APIKeyRecords(connection).noteUse(id: key.id, at: Self.start)
        case .keyDeleted: try APIKeyRecords(connection).delete(id: key.id)
        case .keyReplaced:
            try APIKeyRecords(connection).delete(id: key.id)
            try APIKeyRecords(connection).insert(
                NewAPIKey(
                    id: "01890000-0000-7000-8000-000000000000", digest: key.digest,
                    holder: APIKeyHolder(organizationID: key.organizationID, siteID: key.siteID, owner: key.owner),
                    name: key.name, status: key.status), at: Self.start)
        }
    }

    private func update(
        _ key: APIKeyRecord, status: Availability, expiresAt: UnixTime?, in connection: Connection
    ) throws {
        try APIKeyRecords(connection).update(
            id: key.id, name: key.name, status: status, expiresAt: expiresAt, at: Self.start)
    }
}
