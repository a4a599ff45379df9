import Basics
import Database
import GRPCWire
import RPC

/// The rules of organizations for the sign-ins of their users, for admins.
struct SignInPolicies: Sendable {
    let database: Database
    let clock: any WallClock

    /// Returns whether the organization requires a second factor beside a password.
    func requiresSecondFactor(for caller: Caller) async throws -> Bool {
        try await database.read { try OrganizationRecords($0).requiresSecondFactor(id: caller.organization.id) }
    }

    /// - Throws: PERMISSION_DENIED for an API token; FAILED_PRECONDITION if the caller would be the first who is locked out.
    func setRequiresSecondFactor(_ isRequired: Bool, by caller: Caller) async throws {
        try caller.requirePerson(to: "set how users sign in")
        let now = clock.now()
        try await database.write { connection in
            let records = OrganizationRecords(connection)
            guard try records.requiresSecondFactor(id: caller.organization.id) != isRequired else { return }
            if isRequired, caller.organization == caller.user.home, let session = caller.user.sessionID {
                let known = try UserRecords(connection).find(id: caller.user.userID, session: session)
                guard let known, known.proof != .password else {
                    throw RPCError(
                        bare: .failedPrecondition,
                        "set up a second factor of your own, and sign in with it, before you require it of others")
                }
            }
            try records.setRequiresSecondFactor(isRequired, id: caller.organization.id, at: now)
            try Audit.record(
                caller.did(to: "organizations/\(caller.organization.name)"), at: now, in: connection)
        }
    }

    /// Removes the second factor of a user who lost it.
    ///
    /// - Throws: PERMISSION_DENIED for an API token.
    func resetSecondFactor(of userName: String, by caller: Caller) async throws {
        try caller.requirePerson(to: "reset a second factor")
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let user = try UserRecords(connection).find(organizationID: caller.organization.id, name: userName)
                .orNotFound("user \(userName)")
            guard try SecondFactorRecords(connection).delete(userID: user.id) else {
                throw RPCError(bare: .failedPrecondition, "\(userName) has no second factor")
            }
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
        }
    }
}
