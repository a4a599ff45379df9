import Basics
import Crypto
import Database
import Proto
import RPC

/// The part of the accounts that sign-ins without a password use: identity providers authenticate the user instead.
package struct ExternalSignIns: Sendable {
    /// A session that begins.
    package struct Session: Sendable {
        package let user: UserRecord
        fileprivate let refreshToken: String
        fileprivate let refreshExpiresAt: UnixTime
    }

    let sessions: Sessions
    let tokens: AccessTokens

    /// Opens a session in the transaction of the sign-in.
    ///
    /// - Parameters:
    ///   - action: the method's name, for the audit log.
    ///   - lifetime: the time after which the user has to sign in again, whether the session is used or not.
    package func open(
        for user: UserRecord, action: String, lifetime: Duration, peer: String, at now: UnixTime,
        in connection: Connection
    ) throws -> Session {
        let token = OpaqueToken(.refresh, id: sessions.identifiers.uuid())
        var record = sessions.record(token, family: token.id, userID: user.id, at: now)
        let end = UnixTime(seconds: now.seconds).adding(lifetime)
        record.endsAt = end
        record.expiresAt = min(record.expiresAt, end)
        if let permit = sessions.clockGuard.permit() {
            try RefreshTokenRecords(connection).deleteExpired(userID: user.id, permit)
        }
        try RefreshTokenRecords(connection).insert(record)
        try UserRecords(connection).noteLogin(id: user.id, at: now)
        try Audit.record(user.did(action, peer: peer), at: now, in: connection)
        return Session(
            user: try UserRecords(connection).find(id: user.id) ?? user, refreshToken: token.text,
            refreshExpiresAt: record.expiresAt)
    }

    /// Returns the tokens of a session as clients get them.
    package func response(for session: Session, at now: UnixTime) -> LoginResponse {
        let access = tokens.issue(.user, subject: "\(session.user.id)", epoch: session.user.epoch, at: now)
        return LoginResponse(
            accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
            refreshToken: session.refreshToken, refreshTokenExpiresAtUnix: session.refreshExpiresAt.seconds,
            tokenType: "Bearer", user: session.user.message)
    }

    /// Returns an access token of a service account.
    package func serviceToken(for account: UserRecord, at now: UnixTime) -> (text: String, expiresAt: UnixTime) {
        tokens.issue(.system, subject: "\(account.id)", epoch: account.epoch, at: now)
    }

    /// Changes the role of a user, which revokes their tokens and ends their sessions; the last admin with a password stays one.
    ///
    /// - Returns: the user as they are now.
    package func setRole(
        _ role: Role, of user: UserRecord, at now: UnixTime, in connection: Connection
    ) throws -> UserRecord {
        let records = UserRecords(connection)
        guard user.role != role, try role == .admin || !records.isLastLocalAdmin(user) else { return user }
        try records.update(id: user.id, role: role, passwordHash: nil, at: now)
        try RefreshTokenRecords(connection).deleteAll(userID: user.id)
        return try records.find(id: user.id) ?? user
    }

    /// Revokes the tokens of a user and ends their sessions.
    package func endSessions(of user: UserRecord, at now: UnixTime, in connection: Connection) throws {
        try UserRecords(connection).update(id: user.id, role: user.role, passwordHash: nil, at: now)
        try RefreshTokenRecords(connection).deleteAll(userID: user.id)
    }
}

extension Accounts {
    package var externalSignIns: ExternalSignIns { ExternalSignIns(sessions: sessions, tokens: tokens) }
}
