import Accounts
import Basics
import Capability
import Database
import GRPCWire
import RPC

/// The identities with which users can sign in.
struct Identities: Sendable {
    /// The most results of a search for an address.
    private static let mostFound = 100

    let database: Database
    let clock: any WallClock
    let accounts: ExternalSignIns

    /// - Parameter name: another user of the caller's organization, for admins; empty = the caller.
    func list(of name: String, for caller: Caller) async throws -> [UserIdentityRecord] {
        try await database.read { connection in
            let userID = try name.isEmpty ? caller.user.userID : user(named: name, for: caller, in: connection).id
            return try UserIdentityRecords(connection).all(userID: userID)
        }
    }

    /// Returns the users of the caller's organization who sign in with an address, and records the search.
    func users(withEmail email: String, for caller: Caller) async throws -> [(UserRecord, UserIdentityRecord)] {
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let found = try UserIdentityRecords(connection).all(
                email: SignInRules.comparable(email), organizationID: caller.organization.id, limit: Self.mostFound)
            let users = try found.compactMap { identity in
                try UserRecords(connection).find(id: identity.userID).map { ($0, identity) }
            }
            let ids = Set(users.map(\.0.id)).sorted().map { "\($0)" }
            try Audit.record(
                ids.isEmpty ? caller.did(to: "users") : caller.did(to: ids, of: "users"), at: now, in: connection)
            return users
        }
    }

    /// Removes an identity of the caller, or of a user of an admin's organization.
    ///
    /// - Throws: FAILED_PRECONDITION if the user could not sign in any more.
    func unlink(_ id: Int64, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let records = UserIdentityRecords(connection)
            guard let identity = try records.find(id: id),
                let owner = try UserRecords(connection).find(id: identity.userID), mayChange(owner, caller)
            else { throw RPCError.notFound("identity \(id) does not exist") }
            guard try owner.hasPassword || records.all(userID: owner.id).count > 1 else {
                throw RPCError(
                    bare: .failedPrecondition,
                    "\(owner.name) has no password and no other identity: set a password first, or delete the user")
            }
            try records.delete(id: id)
            try accounts.endSessions(of: owner, at: now, in: connection)
            try Audit.record(caller.did(to: "users/\(owner.id)/identities/\(id)"), at: now, in: connection)
        }
    }

    private func mayChange(_ owner: UserRecord, _ caller: Caller) -> Bool {
        owner.id == caller.user.userID
            || (caller.user.role >= .admin && owner.organization.id == caller.organization.id)
    }

    private func user(named name: String, for caller: Caller, in connection: ReadConnection) throws -> UserRecord {
        guard caller.user.role >= .admin else {
            throw RPCError.permissionDenied("the identities of other users require the role admin")
        }
        guard let user = try UserRecords(connection).find(organizationID: caller.organization.id, name: name) else {
            throw RPCError.notFound("user \(name) does not exist")
        }
        return user
    }
}
