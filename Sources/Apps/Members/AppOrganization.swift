package import Accounts
package import Basics
package import Database
import GRPCWire
import GatewayAPI
package import RPC

/// The organization of an app: its users are members there, and nobody in any other organization.
package struct AppOrganization: Sendable, Hashable {
    package let reference: OrganizationReference
    /// The app's name.
    package let app: String

    /// Returns the organization of an app, and makes it if no organization has that name.
    ///
    /// - Parameters:
    ///   - name: the organization's.
    ///   - app: the app's.
    /// - Throws: ``AppOrganizationError`` for an organization that was not made for the app, since people of the gateway's own may
    ///   be in it.
    package static func open(
        _ name: String, of app: String, database: Database, at now: UnixTime
    ) async throws -> AppOrganization {
        guard FieldRules.isAccountName(name) else { throw AppOrganizationError.name(name, app: app) }
        let reference = try await database.write(mayUseReserve: true) { connection -> OrganizationReference in
            if let known = try Accounts.organization(named: name, in: connection) {
                guard try owner(of: known.id, in: connection) == app else {
                    throw AppOrganizationError.taken(name, app: app)
                }
                return known
            }
            guard let made = try Accounts.createOrganization(name: name, at: now, in: connection) else {
                throw AppOrganizationError.taken(name, app: app)
            }
            try connection.execute(
                "INSERT INTO app_organizations (organization_id, app) VALUES ($1, $2)", made.id, app)
            var entry = AuditEntry.byGateway("CreateOrganization", on: "organizations/\(name)")
            entry.organization = made
            try Audit.record(entry, at: now, in: connection)
            return made
        }
        return AppOrganization(reference: reference, app: app)
    }

    private static func owner(of organizationID: Int64, in connection: ReadConnection) throws -> String? {
        try connection.first("SELECT app FROM app_organizations WHERE organization_id = $1", organizationID) {
            $0.text("app")
        }
    }

    /// Whether a user belongs to the app.
    package func has(_ user: UserRecord) -> Bool { user.organization.id == reference.id }

    /// Returns the calling member.
    ///
    /// - Throws: UNAUTHENTICATED for users of other organizations, who are nobody here.
    package func member(_ context: CallContext) throws(RPCError) -> UserPrincipal {
        let user = try context.user
        guard user.home.id == reference.id, user.apiTokenID == nil else {
            throw RPCError(bare: .unauthenticated, "the token belongs to a user of another organization")
        }
        return user
    }

    /// Checks in a transaction that the organization still exists.
    ///
    /// - Throws: UNAVAILABLE if it was deleted.
    package func checkExists(in connection: ReadConnection) throws {
        guard try Accounts.organization(reference.id, in: connection) != nil else {
            throw RPCError(bare: .unavailable, "the organization \(reference.name) of the app was deleted")
        }
    }
}

/// The reason why an organization cannot be an app's.
package enum AppOrganizationError: Error, Sendable, Hashable, CustomStringConvertible {
    case name(String, app: String)
    case taken(String, app: String)

    package var description: String {
        switch self {
        case .name(let name, let app):
            "apps.\(app).organization must be 1 to 64 letters, digits or . _ @ + - and begin with a letter or digit, not \(name)"
        case .taken(let name, let app):
            "apps.\(app).organization names the organization \(name), which was not made for this app: choose another name"
        }
    }
}
