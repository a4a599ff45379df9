import Basics
import CommandLineInterface
import Crypto
import JSON
import Proto

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
