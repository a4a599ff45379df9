import Basics
import Crypto
import Database
import HTTPTypes
package import Proto
package import RPC

/// The gRPC service for the sessions of people.
package struct SessionService: SessionServiceHandler {
    let accounts: Accounts

    package func logout(_ request: LogoutRequest, context: CallContext) async throws -> LogoutResponse {
        try await accounts.sessions.logout(
            request.refreshToken, peer: context.peer.host, at: accounts.clock.now())
        return LogoutResponse()
    }

    package func completeLogin(
        _ request: CompleteLoginRequest, context: CallContext
    ) async throws -> CompleteLoginResponse {
        try await withBareUnavailability {
            let now = accounts.clock.now()
            let session = try await accounts.sessions.complete(
                challenge: request.challenge, code: request.code, from: SessionPlace(context), at: now)
            let access = accounts.accessToken(for: session, at: now)
            return CompleteLoginResponse(
                accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
                refreshToken: session.refreshToken, refreshTokenExpiresAtUnix: session.refreshExpiresAt.seconds,
                tokenType: "Bearer", user: session.user.message)
        }
    }

    package func listSessions(
        _ request: ListSessionsRequest, context: CallContext
    ) async throws -> ListSessionsResponse {
        let caller = try Caller(context)
        let sessions = try await accounts.own.sessions.list(for: caller)
        return ListSessionsResponse(sessions: sessions.map { $0.message(current: caller.user.sessionID) })
    }

    package func revokeSession(
        _ request: RevokeSessionRequest, context: CallContext
    ) async throws -> RevokeSessionResponse {
        try await accounts.own.sessions.revoke(request.sessionID, by: try Caller(context))
        return RevokeSessionResponse()
    }

    package func revokeOtherSessions(
        _ request: RevokeOtherSessionsRequest, context: CallContext
    ) async throws -> RevokeOtherSessionsResponse {
        let count = try await accounts.own.sessions.revokeOthers(by: try Caller(context))
        return RevokeOtherSessionsResponse(revokedCount: Int32(clamping: count))
    }
}

extension SessionRecord {
    fileprivate func message(current: String?) -> UserSession {
        UserSession(
            sessionID: id, address: place.address, userAgent: place.userAgent,
            createdAt: times.createdAt.microseconds == 0 ? nil : Timestamp(times.createdAt),
            lastUsedAt: times.lastUsedAt.microseconds == 0 ? nil : Timestamp(times.lastUsedAt),
            isCurrent: id == current)
    }
}

/// A person's view of their own sessions.
struct OwnSessions: Sendable {
    let database: Database
    let clock: any WallClock

    /// Returns the caller's sessions, the one that was used last first.
    func list(for caller: Caller) async throws -> [SessionRecord] {
        try await database.readInBackground { try SessionRecords($0).all(userID: caller.user.userID) }
    }

    /// Ends one of the caller's sessions.
    func revoke(_ id: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            guard try SessionRecords(connection).delete(id: id, userID: caller.user.userID) else {
                throw RPCError.notFound("you have no session \(id)")
            }
            try Audit.record(caller.did(to: "sessions/\(id)"), at: now, in: connection)
        }
    }

    /// Ends all of the caller's sessions except the one of the call.
    ///
    /// - Returns: the number of ended sessions.
    func revokeOthers(by caller: Caller) async throws -> Int {
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let revoked = try SessionRecords(connection).deleteAll(
                userID: caller.user.userID, except: caller.user.sessionID)
            if revoked > 0 {
                try Audit.record(caller.did(to: "users/\(caller.user.userID)"), at: now, in: connection)
            }
            return revoked
        }
    }
}
