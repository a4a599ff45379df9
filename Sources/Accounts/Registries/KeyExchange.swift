import Basics
import Database
import GatewayAPI
import RPC

/// Exchanges an API key's credential for an access token, without a commit, since all devices of a site may come back at once.
struct KeyExchange: Sendable {
    let database: Database
    let tokens: AccessTokens
    let deferred: DeferredRecords
    let check: CredentialCheck

    func exchange(
        _ credential: String, peer: String, at now: UnixTime
    ) async throws -> (text: String, expiresAt: UnixTime) {
        guard let credential = OpaqueToken(.apiKey, text: credential) else {
            throw CredentialCheck.invalid
        }
        let found = try await database.read { try APIKeyRecords($0).find(id: credential.id) }
        let key = try check.require(credential, of: found, digest: \.digest, peer: peer, at: now)
        switch key.usability(at: now) {
        case .usable: break
        case .disabled: throw RPCError(.authKeyDisabled, "the key is disabled")
        case .expired: throw RPCError(.authKeyExpired, "the key has expired")
        case .siteDisabled: throw RPCError(.authSiteDisabled, "the site of the key is disabled")
        }
        deferred.noteUse(of: key, at: now)
        return tokens.issue(.apiKey, subject: key.id, epoch: key.epoch, at: now)
    }
}

extension RPCError {
    /// The error's code in the audit log.
    package var code: String { detail?.rawValue ?? status.name }
}
