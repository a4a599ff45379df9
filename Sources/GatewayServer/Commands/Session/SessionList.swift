package import CommandLineInterface
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
