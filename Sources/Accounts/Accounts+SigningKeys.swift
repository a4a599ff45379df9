import Basics
import Crypto
import Database
import GatewayFormats
import RPC
import Synchronization

/// The signing keys.
extension Accounts {
    /// The public keys that verify access tokens now, as a JWK Set (RFC 7517, section 5).
    package var publicKeys: String { tokens.publicKeys(at: clock.now()) }

    /// Rotates the token-signing key.
    func rotateSigningKey(by caller: Caller) async throws -> SigningKeys {
        let now = clock.now()
        let pending = try signingKeys.makePending()
        defer { signingKeys.discard(pending) }
        let outcome = Lock<Result<SigningKeys, any Error>?>(nil)
        try await database.write { [tokens, signingKeys, clockGuard] connection in
            try Audit.record(caller.did(to: "signingKeys/\(pending.key.id)"), at: now, in: connection)
            // Commits are sequential, and therefore rotations too.
            connection.afterCommit {
                let keys = Result { try signingKeys.activate(pending, at: now, clockGuard.permit()) }
                if case .success(let keys) = keys { tokens.use(keys) }
                outcome.withLock { $0 = keys }
            }
        }
        guard let keys = outcome.withLock({ $0 }) else { throw RPCError(.internalError, "the gateway failed") }
        return try keys.get()
    }
}
