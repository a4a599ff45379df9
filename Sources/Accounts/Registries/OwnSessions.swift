import Basics
import Database
import RPC

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
