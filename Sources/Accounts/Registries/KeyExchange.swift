import Database
import Platform
import RPC

/// An API key's credential for an access token. Makes no commit: the robots of a whole site come back at once.
struct KeyExchange: Sendable {
    let database: Database
    let tokens: AccessTokens
    let deferred: DeferredRecords
    let pepper: [UInt8]
    /// Wrong secrets of a key that exists, by its id. The right secret is never refused for them.
    let wrongSecrets: Throttle

    func exchange(
        _ credential: String, peer: String, at now: UnixTime
    ) throws -> (token: String, expiresAt: UnixTime, key: APIKeyRecord) {
        guard let credential = OpaqueToken(.apiKey, text: credential) else { throw Self.invalid }
        let key = try database.read { try APIKeyRecords.find(id: credential.id, in: $0) }
        let digest = credential.digest(pepper: pepper)
        guard let key else { throw Self.invalid }
        guard constantTimeEqual(digest, key.digest) else {
            if let wait = wrongSecrets.take(key.id, at: now) {
                throw RPCError(bare: .unavailable, "too many wrong credentials", retryAfterMilliseconds: wait)
            }
            deferred.noteDenial("ExchangeCredential", Self.invalid.code, host: peer, at: now)
            throw Self.invalid
        }
        switch key.usability(at: now) {
        case .usable: break
        case .disabled: throw RPCError(.authKeyDisabled, "the key is disabled")
        case .expired: throw RPCError(.authKeyExpired, "the key has expired")
        case .siteDisabled: throw RPCError(.authSiteDisabled, "the site of the key is disabled")
        }
        deferred.noteUse(of: key, at: now)
        let (token, expiresAt) = tokens.issue(.apiKey, subject: key.id, epoch: key.epoch, at: now)
        return (token, expiresAt, key)
    }

    /// One answer for malformed, unknown and wrong: which it was is nobody's business.
    static let invalid = RPCError(.authInvalidCredential, "the credential is not valid")
}

extension RPCError {
    /// What the audit log calls it.
    public var code: String { detail?.rawValue ?? status.name }
}
