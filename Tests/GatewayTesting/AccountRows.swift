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
            try OrganizationRecords(connection).insert(
                name: name, displayName: name, kind: .business, at: Self.start)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// - Returns: the id: 1 for a database's first site, and one more for each that follows.
    @discardableResult
    package func addSite(_ name: String, organization: Int64) throws -> Int64 {
        let record = try database.writeBlocking { connection in
            try SiteRecords(connection).insert(
                organizationID: organization, name: name, status: .enabled, at: Self.start)
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
            try UserRecords(connection).insert(
                organizationID: organization, name: name, role: role, passwordHash: "", at: Self.start)
        }
        guard let record else { throw Missing(name: name) }
        return record.id
    }

    /// Deletes an organization with its sites and users.
    package func deleteOrganization(_ id: Int64) throws {
        try database.writeBlocking { connection in
            for site in try SiteRecords(connection).all(organizationID: id) {
                try SiteRecords(connection).delete(id: site.id)
            }
            try OrganizationRecords(connection).delete(id: id)
        }
    }

    /// Gives a device a key in the place of the one that it may have.
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

    /// How many keys an organization has.
    package func keyCount(organization: Int64) throws -> Int {
        try database.readBlocking { connection in
            try APIKeyRecords(connection).all(
                organizationID: organization, siteID: nil, isDevices: nil, deviceID: nil
            ).count
        }
    }

    /// The id of the audit log's last line; 0 where there is none.
    package func lastAuditID() throws -> Int64 {
        try database.readBlocking { try AuditRecords($0).lastID() }
    }

    /// The audit log's lines behind the one of that id.
    package func audit(after id: Int64 = 0) throws -> [AuditEntry] {
        try database.readBlocking { try Self.audit(after: id, in: $0) }
    }

    /// The audit log's lines behind the one of that id, as a read under way sees them.
    package static func audit(after id: Int64, in connection: Connection) throws -> [AuditEntry] {
        let lines = try AuditRecords(connection).page(
            id + 1..<Int64.max, organization: nil, since: start, limit: .max)
        return lines.map(\.entry)
    }
}
