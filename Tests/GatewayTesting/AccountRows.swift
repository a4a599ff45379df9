import Accounts
import Basics
import Database

/// The rows of Accounts that the tests of other modules need, made and read by the records of Accounts.
package struct AccountRows: Sendable {
    /// A row that a test asked for is refused, or is not there.
    package struct Missing: Error {
        let name: String
    }

    private static let start = UnixTime(microseconds: 0)
    private let database: Database

    package init(_ database: Database) {
        self.database = database
    }

    /// - Returns: the id: 1 for a database's first organization, and one more for each that follows.
    @discardableResult
    package func addOrganization(_ name: String) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try OrganizationRecords.insert(
                name: name, displayName: name, kind: .business, at: Self.start, in: connection)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// - Returns: the id: 1 for a database's first site, and one more for each that follows.
    @discardableResult
    package func addSite(_ name: String, organization: Int64) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try SiteRecords.insert(
                organizationID: organization, name: name, status: .enabled, at: Self.start, in: connection)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// Adds a user whose password nobody can know.
    ///
    /// - Returns: the id: 1 for a database's first user, and one more for each that follows.
    @discardableResult
    package func addUser(_ name: String, role: Role, organization: Int64) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try UserRecords.insert(
                organizationID: organization, name: name, role: role, passwordHash: "", at: Self.start, in: connection)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// Deletes an organization with its sites and users.
    package func deleteOrganization(_ id: Int64) throws {
        try database.writeBlocking { connection in
            for site in try SiteRecords.all(organizationID: id, in: connection) {
                try SiteRecords.delete(id: site.id, in: connection)
            }
            try OrganizationRecords.delete(id: id, in: connection)
        }
    }

    /// Gives a device a key in the place of the one that it may have.
    package func setKey(_ id: String, of place: DeviceKeys.Place) throws -> APIKeyReference {
        let key = try database.writeBlocking { connection in
            let owner = APIKeyOwner.device(id: place.deviceID, suiteID: place.suiteID)
            if let earlier = try APIKeyRecords.find(deviceID: place.deviceID, in: connection) {
                try APIKeyRecords.delete(id: earlier.id, in: connection)
            }
            try APIKeyRecords.insert(
                id: id, organizationID: place.organizationID, siteID: place.siteID, owner: owner, name: place.deviceID,
                digest: [1], status: .enabled, expiresAt: nil, at: Self.start, in: connection)
            return try APIKeyRecords.find(deviceID: place.deviceID, in: connection)
        }
        guard let key else { throw Missing(name: id) }
        return APIKeyReference(id: key.id, epoch: key.epoch)
    }

    /// How many keys an organization has.
    package func keyCount(organization: Int64) throws -> Int {
        try database.readBlocking { connection in
            try APIKeyRecords.all(
                organizationID: organization, siteID: nil, isDevices: nil, deviceID: nil, in: connection
            ).count
        }
    }

    /// The id of the audit log's last line; 0 where there is none.
    package func lastAuditID() throws -> Int64 {
        try database.readBlocking { try AuditRecords.lastID(in: $0) }
    }

    /// The audit log's lines behind the one of that id.
    package func audit(after id: Int64 = 0) throws -> [AuditEntry] {
        try database.readBlocking { try Self.audit(after: id, in: $0) }
    }

    /// The audit log's lines behind the one of that id, as a read under way sees them.
    package static func audit(after id: Int64, in connection: Connection) throws -> [AuditEntry] {
        let lines = try AuditRecords.page(
            id + 1..<Int64.max, organization: nil, since: start, limit: .max, in: connection)
        return lines.map(\.entry)
    }
}
