import Basics
import CommandLineInterface

/// `data-gateway whoami`
struct WhoAmI: Command {
    static let name = "whoami"
    static let summary = "Show who is signed in, and at which gateway"
    static let discussion = ["Reads the session file; it does not ask the gateway whether the session was revoked."]

    static var parameters: [Parameter<Self>] {
        [.flag("--json", \.json, "Print one JSON object")]
    }

    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            Reply(try SessionFile(in: environment).signedIn(environment))
        }
    }
}

extension SignedInSession: Resource {
    package static let columns = ["organization", "user_name", "role"]

    package var fields: [ResourceField] {
        [
            .text("organization", organization), .text("user_name", userName), .text("role", role),
            .text("auth_server", authServer.map { "\($0)" } ?? ""),
            .text("admin_server", adminServer.map { "\($0)" } ?? ""),
            .text("gateway_server", gatewayServer.map { "\($0)" } ?? ""),
            .unixTime("session_expires_at", max(accessTokenExpiresAtUnix, refreshTokenExpiresAtUnix)),
        ]
    }
}
