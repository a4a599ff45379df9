import Basics
import Crypto
import GRPCWire
import GatewayAPI
import RPC

extension KeyUsability {
    /// The error for calls with a key that may not be used; `nil` for a usable one.
    var refusal: RPCError? {
        switch self {
        case .usable: nil
        case .disabled: RPCError(.authKeyDisabled, "the key is disabled")
        case .expired: RPCError(.authKeyExpired, "the key has expired")
        case .siteDisabled: RPCError(.authSiteDisabled, "the site of the key is disabled")
        }
    }
}

/// Checks whether a credential is the one that was issued, for devices, sites and service accounts.
///
/// An unknown credential costs the same work as a known one. Wrong secrets for an existing credential are limited by its id; the
/// right secret is never refused because of them, so that nobody can lock another caller out.
struct CredentialCheck: Sendable {
    /// The method's name, for the audit log.
    let action: String
    let pepper: [UInt8]
    let wrongSecrets: Throttle
    let deferred: DeferredRecords

    /// The same error for malformed, unknown and wrong credentials, so that it does not reveal which keys exist.
    static let invalid = RPCError(.authInvalidCredential, "the credential is not valid")

    /// - Parameters:
    ///   - known: the record with the credential's id, if there is one.
    ///   - match: compares a record's digests with that of the credential; `nil` = none is equal.
    /// - Returns: `known`, with the digest that is equal.
    /// - Throws: AUTH_INVALID_CREDENTIAL; UNAVAILABLE without detail after too many wrong secrets.
    func require<Known, Match>(
        _ credential: OpaqueToken, of known: Known?, match: (Known, [UInt8]) -> Match?, peer: String, at now: UnixTime
    ) throws(RPCError) -> (known: Known, match: Match) {
        let digest = credential.digest(pepper: pepper)
        guard let known else { throw Self.invalid }
        guard let match = match(known, digest) else {
            if let wait = wrongSecrets.take(credential.id, at: now) {
                throw RPCError(
                    bare: .unavailable, "too many wrong credentials were sent: try again later",
                    retryAfterMilliseconds: wait)
            }
            deferred.noteDenial(action, Self.invalid.code, host: peer, at: now)
            throw Self.invalid
        }
        return (known, match)
    }
}
