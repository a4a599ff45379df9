package import Basics
package import Crypto
package import Database

/// Functions for other modules, in their own transactions.
extension Accounts {
    /// Returns the organization's name if the gateway has further organizations besides it and `system`; `nil` for `system`, which
    /// acts for all.
    package static func nameAmongOthers(_ id: Int64, in connection: ReadConnection) throws -> String? {
        guard try hasSeveralOrganizations(in: connection) else { return nil }
        return try OrganizationRecords(connection).all().first { $0.id == id && $0.kind == .business }?.name
    }

    /// Whether there are two or more organizations besides `system`.
    package static func hasSeveralOrganizations(in connection: ReadConnection) throws -> Bool {
        try OrganizationRecords(connection).all().count { $0.kind == .business } > 1
    }

    /// Returns the organization; `nil` if no organization has that id.
    package static func organization(_ id: Int64, in connection: ReadConnection) throws -> OrganizationReference? {
        try OrganizationRecords(connection).reference(id: id)
    }

    /// The organization with that name; `nil` if it does not exist.
    package static func organization(
        named name: String, in connection: ReadConnection
    ) throws -> OrganizationReference? {
        try OrganizationRecords(connection).find(name: name).map { OrganizationReference(id: $0.id, name: $0.name) }
    }

    /// Makes an organization without users.
    ///
    /// - Returns: `nil` if an organization already has the name.
    package static func createOrganization(
        name: String, at now: UnixTime, in connection: Connection
    ) throws -> OrganizationReference? {
        try OrganizationRecords(connection).insert(name: name, displayName: name, kind: .business, at: now)?.reference
    }

    /// Whether credentials and tokens issued for the key are still valid.
    package static func isLive(_ key: APIKeyReference, at now: UnixTime, in connection: ReadConnection) throws -> Bool {
        guard let record = try APIKeyRecords(connection).find(id: key.id) else { return false }
        return record.epoch == key.epoch && record.usability(at: now) == .usable
    }

    /// Whether tokens issued for the user are still valid.
    package static func isLive(userID: Int64, epoch: Int64, in connection: ReadConnection) throws -> Bool {
        try UserRecords(connection).find(id: userID)?.epoch == epoch
    }

    /// Whether the site is enabled; `nil` if the organization has no such site.
    package static func isSiteEnabled(
        _ siteID: Int64, organizationID: Int64, in connection: ReadConnection
    ) throws -> Bool? {
        try SiteRecords(connection).find(id: siteID, organizationID: organizationID).map { $0.status == .enabled }
    }

    /// Returns the session of a refresh token, whether or not the token was used; `nil` if the session has ended.
    package static func sessionID(ofRefreshToken text: Secret, in connection: ReadConnection) throws -> String? {
        guard let token = OpaqueToken(.refresh, text: text.exposedText) else { return nil }
        return try RefreshTokenRecords(connection).find(id: token.id)?.family
    }

    /// Ends a session with its tokens.
    package static func endSession(_ id: String, in connection: Connection) throws {
        try SessionRecords(connection).delete(id: id)
    }
}
