package import Accounts
import Basics
package import Capability
package import Database

/// Access to the rows of Accounts for tests of other modules, through the records of Accounts.
package struct AccountRows: Sendable {
    /// A row could not be inserted, or does not exist.
    package struct Missing: Error {
        let name: String
    }

    private static let start = UnixTime(microseconds: 0)
    private let database: Database

    package init(_ database: Database) {
        self.database = database
    }

    /// - Returns: the id: 1 for a database's first organization, increasing by one.
    @discardableResult
    package func addOrganization(_ name: String) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try OrganizationRecords(connection).insert(
                name: name, displayName: name, kind: .business, at: Self.start)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// - Returns: the id: 1 for a database's first site, increasing by one.
    @discardableResult
    package func addSite(_ name: String, organization: Int64) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try SiteRecords(connection).insert(
                organizationID: organization, name: name, status: .enabled, at: Self.start)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    package func disableSite(_ id: Int64, named name: String) throws {
        let updated = try database.writeBlocking { connection in
            try SiteRecords(connection).update(id: id, name: name, status: .disabled, at: Self.start)
        }
        guard updated != nil else { throw Missing(name: name) }
    }

    /// Adds a user with an unknown password.
    ///
    /// - Returns: the id: 1 for a database's first user, increasing by one.
    @discardableResult
    package func addUser(_ name: String, role: Role, organization: Int64) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try UserRecords(connection).insert(
                organizationID: organization, name: name, role: role, passwordHash: "", at: Self.start)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// Deletes an organization with its sites and users.
    package func deleteOrganization(_ id: Int64) throws {
        try database.writeBlocking { connection in
            for site in try SiteRecords(connection).page(organizationID: id, limit: .unlimited).rows {
                try SiteRecords(connection).delete(id: site.id)
            }
            try OrganizationRecords(connection).delete(id: id)
        }
    }

    /// Gives a device a key, and replaces an existing one.
    package func setKey(_ id: String, of place: DeviceKeys.Place) throws -> APIKeyReference {
        let key = try database.writeBlocking { connection in
            let owner = APIKeyOwner.device(id: place.deviceID, suiteID: place.suiteID)
            if let earlier = try APIKeyRecords(connection).find(deviceID: place.deviceID) {
                try APIKeyRecords(connection).delete(id: earlier.id)
            }
            try APIKeyRecords(connection).insert(
                NewAPIKey(
                    id: id, digest: [1],
                    holder: APIKeyHolder(organizationID: place.organizationID, siteID: place.siteID, owner: owner),
                    name: place.deviceID, status: .enabled), at: Self.start)
            return try APIKeyRecords(connection).find(deviceID: place.deviceID)
        }
        guard let key else { throw Missing(name: id) }
        return APIKeyReference(id: key.id, epoch: key.epoch)
    }

    /// Returns the number of an organization's keys.
    package func keyCount(organization: Int64) throws -> Int {
        try database.readBlocking { connection in
            try APIKeyRecords(connection).page(
                organizationID: organization, siteID: nil, isDevices: nil, deviceID: nil, limit: .unlimited
            ).rows.count
        }
    }

    /// Returns the id of the last audit line; 0 without lines.
    package func lastAuditID() throws -> Int64 {
        try database.readBlocking { try AuditRecords($0).lastID() }
    }

    /// Returns the audit lines after the given id.
    package func audit(after id: Int64 = 0) throws -> [AuditEntry] {
        try database.readBlocking { try Self.audit(after: id, in: $0) }
    }

    /// Returns the audit lines after the given id, as seen by the connection's current read.
    package static func audit(after id: Int64, in connection: ReadConnection) throws -> [AuditEntry] {
        let lines = try AuditRecords(connection).page(
            AuditQuery(since: start), in: id + 1..<Int64.max, limit: .unlimited)
        return lines.rows.map(\.entry)
    }
}
