import Basics
import Database
import GatewayFormats
import IdentityTokens
import RPC

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
