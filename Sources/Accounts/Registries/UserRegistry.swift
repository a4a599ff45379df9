import Database
import Platform
import RPC

/// The organizations, and the users of each.
struct UserRegistry: Sendable {
    let database: Database
    let clock: any WallClock
    let passwords: Passwords

    func createUser(name: String, password: Secret, role: Role, by caller: Caller) async throws -> UserRecord {
        let hash = try await passwords.hash(password)
        let now = clock.now()
        return try await database.write { connection in
            let user = try UserRecords.insert(
                organizationID: caller.organization.id, name: name, role: role, passwordHash: hash, at: now,
                in: connection)
            guard let user else { throw RPCError.alreadyExists("there is a user of the name \(name)") }
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
            return user
        }
    }

    func user(_ name: String, for caller: Caller) throws -> UserRecord {
        try database.read { connection in
            try UserRecords.find(organizationID: caller.organization.id, name: name, in: connection)
        }.orNotFound("user \(name)")
    }

    func users(for caller: Caller) throws -> [UserRecord] {
        try database.read { try UserRecords.all(organizationID: caller.organization.id, in: $0) }
    }

    /// Makes an organization and its first admin.
    func createOrganization(
        name: String, displayName: String, adminName: String, password: Secret, by caller: Caller
    ) async throws -> (OrganizationRecord, admin: UserRecord) {
        let hash = try await passwords.hash(password)
        let now = clock.now()
        return try await database.write { connection in
            let organization = try OrganizationRecords.insert(
                name: name, displayName: displayName, kind: .business, at: now, in: connection)
            guard let organization else {
                throw RPCError.alreadyExists("there is an organization of the name \(name)")
            }
            let admin = try UserRecords.insert(
                organizationID: organization.id, name: adminName, role: .admin, passwordHash: hash, at: now,
                in: connection
            ).orNotFound("user \(adminName)")
            try Audit.record(caller.did(to: "organizations/\(name)"), at: now, in: connection)
            return (organization, admin)
        }
    }

    func organization(_ name: String) throws -> OrganizationRecord {
        try database.read { try OrganizationRecords.find(name: name, in: $0) }.orNotFound("organization \(name)")
    }

    func organizations() throws -> [OrganizationRecord] {
        try database.read { try OrganizationRecords.all(in: $0) }
    }
}
