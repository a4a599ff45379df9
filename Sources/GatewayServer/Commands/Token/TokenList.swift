package import CommandLineInterface
package import Proto

/// `data-gateway token list`
struct TokenList: ClientCommand {
    static let name = "list"
    static let summary = "List your API tokens, or those of another user (for admins)"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [.option("--user", "NAME", \.userName, "Another user of the organization")] + connectionParameters
    }

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let request = ListApiTokensRequest(userName: userName)
        return Reply("api_tokens", try await ApiTokenServiceClient(gateway).listApiTokens(request).apiTokens)
    }
}

extension ApiToken: Resource {
    package static let columns = ["token_id", "token_name", "role", "organizations", "expired_at", "last_used_at"]

    package var fields: [ResourceField] {
        [
            .text("token_id", tokenID), .text("token_name", tokenName), .text("user_name", userName),
            .text("role", role), .texts("organizations", organizations), .time("created_at", createdAt),
            .time("expired_at", expiredAt), .time("last_used_at", lastUsedAt),
            .text("last_used_address", lastUsedAddress),
        ]
    }
}
