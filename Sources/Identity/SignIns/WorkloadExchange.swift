import Accounts
import Basics
import Capability
import Database
import GRPCWire
import GatewayFormats
import IdentityTokens
import Proto
import RPC

/// The exchange of a workload's verified token for an access token of its service account.
struct WorkloadExchange: Sendable {
    let database: Database
    let accounts: Accounts
    let grace: Duration

    /// - Parameters:
    ///   - digest: the token's, if it is accepted once; `nil` = it is accepted until it expires.
    ///   - account: the name of the service account.
    func exchange(
        _ token: IdentityToken, digest: [UInt8]?, account name: String, _ attempt: SignInRules.Attempt
    ) async throws -> ExchangeWorkloadTokenResponse {
        guard let account = try await database.read({ try UserRecords($0).find(organization: "system", name: name) }),
            account.role == .service
        else {
            throw RPCError(bare: .unavailable, "the service account \(name) of the configuration does not exist")
        }
        try accounts.auditPressure.admit(account.principal)
        var entry = account.did(attempt.action, peer: attempt.place.address)
        // A subject is a name such as repo:acme/robots:ref:refs/heads/main.
        entry.ids = [String(token.subject.prefix(128))]
        if let digest {
            let use = TokenUse(digest: digest, expiresAt: token.expiresAt, grace: grace)
            try await database.write(mayUseReserve: true) { [entry] connection in
                try use.record(by: account.id, at: attempt.at, in: connection)
                try Audit.record(entry, at: attempt.at, in: connection)
            }
        } else {
            // Without a commit, like the exchange of a system credential.
            accounts.deferred.note(entry, at: attempt.at)
        }
        let access = accounts.externalSignIns.serviceToken(for: account, at: attempt.at)
        return ExchangeWorkloadTokenResponse(
            accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds, tokenType: "Bearer",
            organization: account.organization.name, userName: account.name)
    }
}

/// The single use of a token or a nonce.
struct TokenUse: Sendable {
    /// The time for which the use is remembered after the expiry. A clock that steps ahead by less than a day is trusted for
    /// deletions (`ClockGuard`); when it steps back, the token has not expired yet.
    private static let memory = Duration.hours(25)

    let digest: [UInt8]
    let expiresAt: UnixTime
    /// The time in which the same user may use it again, in case the response was lost.
    let grace: Duration

    /// Records the use.
    ///
    /// - Parameter connection: the writer's, in whose transaction the use has its effect.
    /// - Throws: AUTH_INVALID_CREDENTIAL if it was used before.
    func record(by userID: Int64, at now: UnixTime, in connection: Connection) throws {
        let records = SpentTokenRecords(connection)
        guard let earlier = try records.find(digest) else {
            return try records.insert(digest, userID: userID, at: now, expiresAt: expiresAt.adding(Self.memory))
        }
        let age = now.duration(since: earlier.usedAt)
        guard earlier.userID == userID, (.zero - grace..<grace).contains(age) else { throw RPCError(.used) }
    }
}

extension RPCError {
    /// The refusal of an identity token.
    init(_ reason: IdentityTokenError) {
        self.init(.authInvalidCredential, "the identity token is not valid: \(reason)")
    }
}
