package import Basics
import Capability
import Crypto
package import Database
import GRPCWire
import GatewayAPI
import RPC
import Synchronization

/// The organizations and their users.
struct UserRegistry: Sendable {
    let database: Database
    let clock: any WallClock
    let passwords: Passwords
    let removal: UserRemoval

    /// - Parameter password: `nil` for a service account, which has none.
    /// - Throws: PERMISSION_DENIED for a new admin by an API token.
    func createUser(name: String, password: Secret?, role: Role, by caller: Caller) async throws -> UserRecord {
        if role == .admin { try caller.requirePerson(to: "create an admin") }
        if role == .service && !caller.isSystem {
            throw RPCError.permissionDenied("only the organization system can have service accounts")
        }
        var hash = ""
        if let password { hash = try await passwords.hash(password, for: .organization(caller.organization.id)) }
        let now = clock.now()
        return try await database.write { [hash] connection in
            let user = try UserRecords(connection).insert(
                organizationID: caller.organization.id, name: name, role: role, passwordHash: hash, at: now)
            guard let user else { throw RPCError.alreadyExists("a user named \"\(name)\" already exists") }
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
            return user
        }
    }

    func user(_ name: String, for caller: Caller) async throws -> ListedUser {
        try await database.read { connection in
            let found = try UserRecords(connection).find(organizationID: caller.organization.id, name: name)
            return try found.map {
                ListedUser(user: $0, hasSecondFactor: try SecondFactorRecords(connection).isConfirmed(userID: $0.id))
            }
        }.orNotFound("user \(name)")
    }

    /// Returns a page of the users of the caller's organization; its cursor is a user's id.
    func users(_ page: Page, for caller: Caller) async throws -> PageRows<ListedUser> {
        let (organizationID, first) = (caller.organization.id, Int64(page.cursor) ?? 0)
        return try await database.readPage(page.limit) { connection, limit, last in
            try UserRecords(connection).list(
                organizationID: organizationID, after: last?.user.id ?? first, limit: limit)
        }
    }

    /// - Parameters: a value that is `nil` stays unchanged. Any change ends the user's sessions and tokens.
    /// - Throws: PERMISSION_DENIED for a password or the role admin by an API token.
    func updateUser(_ name: String, password: Secret?, role: Role?, by caller: Caller) async throws -> UserRecord {
        if password != nil { try caller.requirePerson(to: "set a password") }
        if role == .admin { try caller.requirePerson(to: "make a user an admin") }
        var hash: String?
        if let password { hash = try await passwords.hash(password, for: .organization(caller.organization.id)) }
        let now = clock.now()
        return try await database.write { [hash] connection in
            let user = try user(name, of: caller, in: connection)
            let role = role ?? user.role
            if user.role == .service && hash != nil {
                throw RPCError(bare: .failedPrecondition, "\(name) is a service account and cannot have a password")
            }
            if (role == .service) != (user.role == .service) {
                throw RPCError(bare: .failedPrecondition, "the role cannot be changed to or from service")
            }
            if role != .admin { try checkAnotherAdmin(than: user, in: connection) }
            if hash != nil || role != user.role {
                try UserRecords(connection).change(user.id, role: role, passwordHash: hash, at: now)
            }
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
            return try self.user(name, of: caller, in: connection)
        }
    }

    /// - Throws: PERMISSION_DENIED for the user of the API token that makes the call.
    func deleteUser(_ name: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let user = try user(name, of: caller, in: connection)
            if user.id == caller.user.userID { try caller.requirePerson(to: "delete its own user") }
            try checkAnotherAdmin(than: user, in: connection)
            try removal.remove(user, at: now, in: connection)
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
        }
    }

    private func user(_ name: String, of caller: Caller, in connection: ReadConnection) throws -> UserRecord {
        try UserRecords(connection).find(organizationID: caller.organization.id, name: name)
            .orNotFound("user \(name)")
    }

    /// - Throws: FAILED_PRECONDITION for the last admin with a password, without whom nobody inside the organization could repair it.
    private func checkAnotherAdmin(than user: UserRecord, in connection: ReadConnection) throws {
        guard try !UserRecords(connection).isLastLocalAdmin(user) else {
            throw RPCError(bare: .failedPrecondition, "\(user.name) is the last admin of \(user.organization.name)")
        }
    }

    /// Creates an organization and its first admin.
    func createOrganization(
        name: String, displayName: String, adminName: String, password: Secret, by caller: Caller
    ) async throws -> (organization: OrganizationRecord, admin: UserRecord) {
        let hash = try await passwords.hash(password, for: .organization(caller.organization.id))
        let now = clock.now()
        return try await database.write { connection in
            let organization = try OrganizationRecords(connection).insert(
                name: name, displayName: displayName, kind: .business, at: now)
            guard let organization else {
                throw RPCError.alreadyExists("an organization named \"\(name)\" already exists")
            }
            let admin = try UserRecords(connection).insert(
                organizationID: organization.id, name: adminName, role: .admin, passwordHash: hash, at: now
            ).orNotFound("user \(adminName)")
            try Audit.record(caller.did(to: "organizations/\(name)"), at: now, in: connection)
            return (organization, admin)
        }
    }

    func renameOrganization(
        _ name: String, displayName: String, by caller: Caller
    ) async throws -> OrganizationRecord {
        let now = clock.now()
        return try await database.write { connection in
            let organization = try OrganizationRecords(connection).setDisplayName(displayName, of: name, at: now)
                .orNotFound("organization \(name)")
            try Audit.record(caller.did(to: "organizations/\(name)"), at: now, in: connection)
            return organization
        }
    }

    /// Deletes an organization with its last user, since the last admin cannot be deleted before.
    func deleteOrganization(_ name: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let organization = try OrganizationRecords(connection).find(name: name)
                .orNotFound("organization \(name)")
            guard organization.kind != .system else {
                throw RPCError(bare: .failedPrecondition, "the organization \(name) cannot be deleted")
            }
            let users = try UserRecords(connection).list(organizationID: organization.id, limit: PageLimit(rows: 2))
                .rows
            if users.count > 1, let user = users.last?.user {
                throw RPCError(bare: .failedPrecondition, "organization \(name) still has the user \(user.name)")
            }
            do {
                try OrganizationRecords(connection).delete(id: organization.id)
            } catch DatabaseError.constraint(.foreignKey, _) {
                throw RPCError(bare: .failedPrecondition, "organization \(name) still has sites or devices")
            }
            try Audit.record(caller.did(to: "organizations/\(name)"), at: now, in: connection)
        }
    }

    func organization(_ name: String) async throws -> OrganizationRecord {
        try await database.read { try OrganizationRecords($0).find(name: name) }.orNotFound("organization \(name)")
    }

    /// Returns a page of all organizations; its cursor is an organization's id.
    func organizations(_ page: Page) async throws -> PageRows<OrganizationRecord> {
        let first = Int64(page.cursor) ?? 0
        return try await database.readPage(page.limit) { connection, limit, last in
            try OrganizationRecords(connection).page(after: last?.id ?? first, limit: limit)
        }
    }
}

/// The removal of users with everything that refers to them, whoever asks for it.
package final class UserRemoval: Sendable {
    /// Called in the transaction, before the user is removed.
    package typealias Observer = @Sendable (UserRecord, UnixTime, Connection) throws -> Void

    private let observers = Lock<[Observer]>([])

    /// Adds work for each removal, such as messages to others whom it concerns.
    package func beforeEach(_ observer: @escaping Observer) {
        observers.withLock { $0.append(observer) }
    }

    package func remove(_ user: UserRecord, at now: UnixTime, in connection: Connection) throws {
        for observer in observers.withLock({ $0 }) { try observer(user, now, connection) }
        try UserRecords(connection).delete(id: user.id)
    }
}
