import Basics
import Crypto
import GatewayAPI
import RPC

/// Whether a credential is the one that was issued: the same for devices', sites' and service accounts'.
///
/// Constant work for what is unknown; wrong secrets of a credential that exists are limited by its id, so that nobody
/// can lock another out. The right secret is never refused for them.
struct CredentialCheck: Sendable {
    /// The method's name, for the audit log.
    let action: String
    let pepper: [UInt8]
    let wrongSecrets: Throttle
    let deferred: DeferredRecords

    /// One answer for malformed, unknown and wrong, so that it does not tell which keys exist.
    static let invalid = RPCError(.authInvalidCredential, "the credential is not valid")

    /// - Parameters:
    ///   - known: what is recorded under the credential's id.
    ///   - recorded: its digest.
    /// - Returns: `known`.
    /// - Throws: AUTH_INVALID_CREDENTIAL; UNAVAILABLE without detail where too many were wrong.
    func require<Known>(
        _ credential: OpaqueToken, of known: Known?, digest recorded: (Known) -> [UInt8], peer: String, at now: UnixTime
    ) throws(RPCError) -> Known {
        let digest = credential.digest(pepper: pepper)
        guard let known else { throw Self.invalid }
        guard constantTimeEqual(digest, recorded(known)) else {
            if let wait = wrongSecrets.take(credential.id, at: now) {
                throw RPCError(
                    bare: .unavailable, "too many wrong credentials were sent: try again later",
                    retryAfterMilliseconds: wait)
            }
            deferred.noteDenial(action, Self.invalid.code, host: peer, at: now)
            throw Self.invalid
        }
        return known
    }
}
