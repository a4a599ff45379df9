import CommandLineInterface
import Crypto
import Proto

/// `data-gateway user passwd`
struct UserPassword: ClientCommand {
    static let name = "passwd"
    static let summary = "Set a user's password"
    static let discussion = [
        """
        Asks twice for the new password on the terminal. The user's tokens stop working with the next call; the user signs \
        in again.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.userName, "The user's name"),
            .flag(
                "--password-stdin", \.passwordFromStandardInput,
                "Read the password from the first line of standard input"),
        ] + connectionParameters
    }

    var userName = ""
    var passwordFromStandardInput = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let password = try Password.read(
            fromStandardInput: passwordFromStandardInput, prompt: "New password for \(userName): ", isNew: true)
        let reply = try await UserAuthServiceClient(gateway).updateUser(
            UpdateUserRequest(userName: userName, password: password.exposedText))
        return Reply(try reply.user.present("user"))
    }
}
