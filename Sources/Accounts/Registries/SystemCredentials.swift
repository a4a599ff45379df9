import Basics
import Crypto
import Database
import RPC

/// Service accounts' system credentials: issued by an admin of SYSTEM, exchanged for access tokens without a commit.
struct SystemCredentials: Sendable {
    let database: Database
    let tokens: AccessTokens
    let identifiers: Identifiers
    let clock: any WallClock
    let check: CredentialCheck
    let deferred: DeferredRecords

    /// A new credential in the place of the one that the account may have; that one's tokens end with the next call.
    func issue(to userName: String, by caller: Caller) async throws -> Secret {
        let token = OpaqueToken(.system, id: identifiers.uuid())
        let digest = token.digest(pepper: check.pepper)
        let now = clock.now()
        try await database.write { connection in
            let user = try UserRecords(connection).find(organizationID: caller.organization.id, name: userName)
                .orNotFound("user \(userName)")
            guard user.role == .service else {
                throw RPCError(bare: .failedPrecondition, "user \(userName) is not a service account")
            }
            try UserRecords(connection).update(id: user.id, role: .service, passwordHash: nil, at: now)
            try SystemCredentialRecords(connection).replace(
                userID: user.id, id: token.id, digest: digest, at: now)
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
        }
        return Secret(token.text)
    }

    /// - Throws: AUTH_INVALID_CREDENTIAL, one for malformed, unknown and wrong.
    func exchange(
        _ text: String, peer: String, at now: UnixTime
    ) async throws -> (token: String, expiresAt: UnixTime, user: UserRecord) {
        guard let credential = OpaqueToken(.system, text: text) else {
            throw CredentialCheck.invalid
        }
        let found = try await database.read { try SystemCredentialRecords($0).find(id: credential.id) }
        let known = try check.require(credential, of: found, digest: \.digest, peer: peer, at: now)
        let (token, expiresAt) = tokens.issue(
            .system, subject: "\(known.user.id)", epoch: known.user.epoch, at: now)
        deferred.note(known.user.did("ExchangeSystemCredential", peer: peer), at: now)
        return (token, expiresAt, known.user)
    }
}
