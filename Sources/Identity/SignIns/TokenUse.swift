import Basics
import Database
import IdentityTokens
import RPC

/// The single use of a token or a nonce.
struct TokenUse: Sendable {
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
            // As long as any clock within the tolerance takes the token for valid.
            let kept = expiresAt.adding(seconds: 2 * IdentityTokenRules.leewaySeconds)
            return try records.insert(digest, userID: userID, at: now, expiresAt: kept)
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
