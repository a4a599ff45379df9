import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway token create`
struct TokenCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create an API token for a program, and show it once"
    static let discussion = [
        """
        A program sends the token as 'authorization: Bearer TOKEN', in gRPC, Connect and REST calls. The commands of this \
        program take it from $DATA_GATEWAY_TOKEN. Until it expires, it has your rights, limited to its role.
        """
    ]
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.tokenName, "The token's name, such as the program that uses it"),
            .option(
                "--role", "ROLE", \.role,
                "The highest role that the token has: viewer, operator or admin (default: viewer)"
            )
            .offering(["viewer", "operator", "admin"]),
            .option(
                "--expires", "TIME", \.expiry,
                "The time at which the token ends, such as 2027-01-31T08:00:00Z (default: in 30 days)"),
            .option(
                "--for-organizations", "NAMES", \.organizations,
                "The organizations for which the token may act, separated by commas (default: all for which you may act)"
            ),
        ] + connectionParameters
    }

    private static let standardLifetime: Int64 = 30 * 86_400

    var tokenName = ""
    var role = "viewer"
    var expiry: TimeArgument?
    var organizations = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let end = expiry?.time.seconds ?? gateway.now.seconds + Self.standardLifetime
        let reply = try await ApiTokenServiceClient(gateway).createApiToken(
            CreateApiTokenRequest(
                tokenName: tokenName, role: role, organizations: organizations.split(separator: ",").map(String.init),
                expiredAt: Timestamp(seconds: end)))
        return Reply(IssuedToken(token: try reply.apiToken.present("api_token"), text: reply.token))
    }
}

/// A token with its text, which the gateway shows once.
struct IssuedToken: Resource {
    static let columns = ["token_id"]
    let token: ApiToken
    let text: String

    var fields: [ResourceField] { token.fields + [.text("token", text)] }
}

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
