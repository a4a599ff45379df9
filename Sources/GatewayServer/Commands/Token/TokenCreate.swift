import Basics
import CommandLineInterface
import Proto

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
