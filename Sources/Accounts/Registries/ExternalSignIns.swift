import Basics
import Crypto
import Database
import Proto
import RPC

/// The part of the accounts that sign-ins without a password use: identity providers authenticate the user instead.
package struct ExternalSignIns: Sendable {
    /// A session that begins.
    package struct Session: Sendable {
        fileprivate let opened: Sessions.Opened
    }

    let sessions: Sessions
    let tokens: AccessTokens

    /// Opens a session in the transaction of the sign-in.
    ///
    /// - Parameters:
    ///   - action: the method's name, for the audit log.
    ///   - lifetime: the time after which the user has to sign in again, whether the session is used or not.
    package func open(
        for user: UserRecord, from place: SessionPlace, action: String, lifetime: Duration, at now: UnixTime,
        in connection: Connection
    ) throws -> Session {
        Session(
            opened: try sessions.begin(
                user, by: .provider, from: place, lifetime: lifetime, action: action, at: now, in: connection))
    }

    /// Returns the tokens of a session as clients get them.
    package func response(for session: Session, at now: UnixTime) -> LoginResponse {
        let (opened, user) = (session.opened, session.opened.user)
        let access = tokens.issue(.user, subject: "\(user.id)", epoch: user.epoch, session: opened.id, at: now)
        return LoginResponse(
            accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
            refreshToken: opened.refreshToken, refreshTokenExpiresAtUnix: opened.refreshExpiresAt.seconds,
            tokenType: "Bearer", user: user.message)
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
        try SessionRecords(connection).deleteAll(userID: user.id)
        return try records.find(id: user.id) ?? user
    }

    /// Revokes the tokens of a user and ends their sessions.
    package func endSessions(of user: UserRecord, at now: UnixTime, in connection: Connection) throws {
        try UserRecords(connection).update(id: user.id, role: user.role, passwordHash: nil, at: now)
        try SessionRecords(connection).deleteAll(userID: user.id)
    }
}

extension Accounts {
    package var externalSignIns: ExternalSignIns { ExternalSignIns(sessions: sessions, tokens: tokens) }
}
