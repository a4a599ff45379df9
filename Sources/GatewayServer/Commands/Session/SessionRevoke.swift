import Basics
import CommandLineInterface
import JSON
import Proto

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
