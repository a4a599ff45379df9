package import Basics
package import Capability
import Crypto
package import Database
package import Proto
import RPC

/// The part of the accounts that sign-ins without a password use: identity providers authenticate the user instead.
package struct ExternalSignIns: Sendable {
    /// A session that begins.
    package struct Session: Sendable {
        fileprivate let opened: Sessions.Opened

        package var user: UserRecord { opened.user }
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
                user, Sessions.Start(proof: .provider, place: place, lifetime: lifetime, action: action), at: now,
                in: connection))
    }

    /// Returns the tokens of a session as clients get them.
    ///
    /// - Parameter nameInApp: the id by which an app's clients know the user, which becomes the claim `user_id`; `nil` = none.
    package func response(for session: Session, nameInApp: String? = nil, at now: UnixTime) -> LoginResponse {
        let (opened, user) = (session.opened, session.opened.user)
        let access = tokens.issue(opened, nameInApp: nameInApp, at: now)
        return LoginResponse(
            accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
            refreshToken: opened.refreshToken, refreshTokenExpiresAtUnix: opened.refreshExpiresAt.seconds,
            tokenType: "Bearer", user: user.message)
    }

    /// Returns the user of a refresh token, whether or not it was used; `nil` if it is not valid.
    package func owner(ofRefreshToken text: String, at now: UnixTime) async throws -> UserRecord? {
        try await sessions.owner(of: text, at: now)
    }

    /// Exchanges a refresh token.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL for a token that is not valid; a token that was used before ends its session.
    package func refresh(_ text: String, peer: String, at now: UnixTime) async throws -> Session {
        Session(opened: try await sessions.refresh(text, peer: peer, at: now))
    }

    /// Ends the session of a refresh token; does nothing for a token that is not valid.
    package func end(refreshToken text: String, peer: String, at now: UnixTime) async throws {
        try await sessions.logout(text, peer: peer, at: now)
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
        try records.change(user.id, role: role, passwordHash: nil, at: now)
        return try records.find(id: user.id) ?? user
    }

    /// Revokes the tokens of a user and ends their sessions.
    package func endSessions(of user: UserRecord, at now: UnixTime, in connection: Connection) throws {
        try UserRecords(connection).update(id: user.id, role: user.role, passwordHash: nil, at: now)
        try SessionRecords(connection).deleteAll(userID: user.id)
    }
}

/// An open session of a user, as the user may see it.
package struct SessionSummary: Sendable, Hashable {
    package let address: String
    package let createdAt: UnixTime
    package let lastUsedAt: UnixTime
}

extension Accounts {
    /// Returns the open sessions of a user, the one that was used last first.
    package static func sessions(ofUser id: Int64, in connection: ReadConnection) throws -> [SessionSummary] {
        try SessionRecords(connection).all(userID: id).map {
            SessionSummary(
                address: $0.place.address, createdAt: $0.times.createdAt, lastUsedAt: $0.times.lastUsedAt)
        }
    }

    package var externalSignIns: ExternalSignIns { ExternalSignIns(sessions: sessions, tokens: tokens) }
}
