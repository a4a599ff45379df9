import Accounts
import Basics
import Database

/// A change of what decides about a device's key, as an operator or another call makes it.
package enum AccountChange: Sendable {
    case siteDisabled
    case keyDisabled
    case keyHeld
    case keyExpired
    case keyUsed
    case keyDeleted
    case keyReplaced

    private static let start = UnixTime(microseconds: 1)

    /// Makes the change to the key of a device, which it must have, or to the organization's sites.
    package func apply(device id: String, organization: Int64, in connection: Connection) throws {
        if self == .siteDisabled {
            for site in try SiteRecords.all(organizationID: organization, in: connection) {
                _ = try SiteRecords.update(
                    id: site.id, name: site.name, status: .disabled, at: Self.start, in: connection)
            }
            return
        }
        guard let key = try APIKeyRecords.find(deviceID: id, in: connection) else {
            throw AccountRows.Missing(name: id)
        }
        switch self {
        case .siteDisabled: break
        case .keyDisabled: try update(key, status: .disabled, expiresAt: nil, in: connection)
        case .keyHeld: try APIKeyRecords.setHeld(deviceID: id, true, at: Self.start, in: connection)
        case .keyExpired: try update(key, status: .enabled, expiresAt: Self.start, in: connection)
        case .keyUsed: try APIKeyRecords.noteUse(id: key.id, at: Self.start, in: connection)
        case .keyDeleted: try APIKeyRecords.delete(id: key.id, in: connection)
        case .keyReplaced:
            try APIKeyRecords.delete(id: key.id, in: connection)
            try APIKeyRecords.insert(
                id: "01890000-0000-7000-8000-000000000000", organizationID: key.organizationID, siteID: key.siteID,
                owner: key.owner, name: key.name, digest: key.digest, status: key.status, expiresAt: nil,
                at: Self.start, in: connection)
        }
    }

    private func update(
        _ key: APIKeyRecord, status: Availability, expiresAt: UnixTime?, in connection: Connection
    ) throws {
        try APIKeyRecords.update(
            id: key.id, name: key.name, status: status, expiresAt: expiresAt, at: Self.start, in: connection)
    }
}
