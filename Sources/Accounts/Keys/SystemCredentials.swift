import Basics
import Capability
import Crypto
import Database
import GRPCWire
import RPC

/// The system credentials of service accounts, issued by admins of SYSTEM and exchanged for access tokens without a commit.
struct SystemCredentials: Sendable {
    let database: Database
    let tokens: AccessTokens
    let identifiers: Identifiers
    let clock: any WallClock
    let check: CredentialCheck
    let deferred: DeferredRecords

    /// Issues a new credential and replaces the account's old one, whose tokens are invalid from the next call on.
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

    /// - Throws: AUTH_INVALID_CREDENTIAL for a malformed, unknown or wrong credential.
    func exchange(
        _ text: String, peer: String, at now: UnixTime
    ) async throws -> (token: String, expiresAt: UnixTime, user: UserRecord) {
        guard let credential = OpaqueToken(.system, text: text) else {
            throw CredentialCheck.invalid
        }
        let found = try await database.read { try SystemCredentialRecords($0).find(id: credential.id) }
        let (known, _) = try check.require(
            credential, of: found, match: { constantTimeEqual($1, $0.digest) ? true : nil }, peer: peer, at: now)
        let (token, expiresAt) = tokens.issue(
            .system, subject: "\(known.user.id)", epoch: known.user.epoch, at: now)
        deferred.note(known.user.did("ExchangeSystemCredential", peer: peer), at: now)
        return (token, expiresAt, known.user)
    }
}
