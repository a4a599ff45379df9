import Basics
package import CommandLineInterface
import Crypto
import JSON
package import Proto

/// `data-gateway account show`
struct AccountShow: ClientCommand {
    static let name = "show"
    static let summary = "Show your user, and whether a second factor protects it"
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await AccountServiceClient(gateway).getAccount(GetAccountRequest()))
    }
}

extension GetAccountResponse: Resource {
    package static let columns = ["user_name", "role", "has_second_factor"]

    package var fields: [ResourceField] {
        [
            .text("organization", user?.organization ?? ""), .text("user_name", user?.userName ?? ""),
            .text("role", user?.role ?? ""), .flag("has_password", hasPassword),
            .flag("has_second_factor", hasSecondFactor), .number("recovery_codes_left", Int64(recoveryCodesLeft)),
            .flag("second_factor_required", secondFactorRequired),
            .flag("second_factor_missing", secondFactorMissing),
        ]
    }
}

extension ResourceField {
    /// A property that holds or not.
    static func flag(_ name: String, _ value: Bool) -> ResourceField {
        ResourceField(name: name, json: .bool(value), text: value ? "yes" : "no")
    }
}

/// `data-gateway account passwd`
struct AccountPassword: ClientCommand {
    static let name = "passwd"
    static let summary = "Change your own password, and end your other sessions"
    static let discussion = [
        """
        Asks for the current password and twice for the new one on the terminal. API tokens stay valid: revoke them with \
        'token revoke' if somebody else may know them.
        """
    ]
    static var listener: CommandListener { .auth }

    static var parameters: [Parameter<Self>] {
        [
            .flag(
                "--password-stdin", \.passwordFromStandardInput,
                "Read the current password from the first line of standard input, and the new one from the second")
        ] + connectionParameters
    }

    var passwordFromStandardInput = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let current = try Password.read(
            fromStandardInput: passwordFromStandardInput, prompt: "Your current password: ")
        let new = try Password.read(
            fromStandardInput: passwordFromStandardInput, prompt: "Your new password: ", isNew: true)
        let reply = try await AccountServiceClient(gateway).changePassword(
            ChangePasswordRequest(currentPassword: current.exposedText, newPassword: new.exposedText))
        return Reply(
            json: .object([.init(name: "revoked_sessions", value: .number(Int64(reply.revokedSessions)))]),
            text: "changed the password; other sessions that were ended: \(reply.revokedSessions)")
    }
}

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
