import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway session list`
struct SessionList: ClientCommand {
    static let name = "list"
    static let summary = "List your sessions: browsers and programs in which you are signed in"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("sessions", try await SessionServiceClient(gateway).listSessions(ListSessionsRequest()).sessions)
    }
}

extension UserSession: Resource {
    package static let columns = ["session_id", "address", "user_agent", "last_used_at", "is_current"]

    package var fields: [ResourceField] {
        [
            .text("session_id", sessionID), .text("address", address), .text("user_agent", userAgent),
            .time("created_at", createdAt), .time("last_used_at", lastUsedAt), .flag("is_current", isCurrent),
        ]
    }
}

/// `data-gateway session revoke`
struct SessionRevoke: ClientCommand {
    static let name = "revoke"
    static let summary = "End one of your sessions, or all the others, from the next call on"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [
            .option("--id", "SESSION_ID", \.sessionID, "The session's id, as printed by 'session list'"),
            .flag("--others", \.others, "End all of your sessions except the one of this command"),
        ] + connectionParameters
    }

    var sessionID: String?
    var others = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let client = SessionServiceClient(gateway)
        switch (sessionID, others) {
        case (let id?, false):
            _ = try await client.revokeSession(RevokeSessionRequest(sessionID: id))
            return Reply(
                json: .object([.init(name: "session_id", value: .string(id))]), text: "ended session \(id)")
        case (nil, true):
            let count = try await client.revokeOtherSessions(RevokeOtherSessionsRequest()).revokedCount
            return Reply(
                json: .object([.init(name: "revoked_count", value: .number(Int64(count)))]),
                text: "other sessions that were ended: \(count)")
        default: throw ClientFailure("session revoke needs either --id or --others", exitCode: .usage)
        }
    }
}
