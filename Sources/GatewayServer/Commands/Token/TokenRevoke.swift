import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway token revoke`
struct TokenRevoke: ClientCommand {
    static let name = "revoke"
    static let summary = "Revoke an API token (it stops working with the next call)"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [.argument("TOKEN_ID", \.tokenID, "The token's id, as printed by 'token list'")] + connectionParameters
    }

    var tokenID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await ApiTokenServiceClient(gateway).revokeApiToken(RevokeApiTokenRequest(tokenID: tokenID))
        return .deleted("token_id", .string(tokenID), "token \(tokenID)")
    }
}
