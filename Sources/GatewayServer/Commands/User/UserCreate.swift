import CommandLineInterface
import Crypto
import Proto

/// `data-gateway user create`
struct UserCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a user, who can sign in, or a service account"
    static let discussion = [
        """
        Asks twice for the new user's password on the terminal. A service account has none: 'user credential' shows what it \
        signs in by.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.userName, "What the user signs in as"),
            .option(
                "--role", "ROLE", \.role, "What the user may do: admin, operator, viewer or service", isRequired: true),
            .flag(
                "--password-stdin", \.passwordFromStandardInput, "Read the password from standard input's first line"),
        ] + connectionParameters
    }

    var userName = ""
    var role = ""
    var passwordFromStandardInput = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        var password = Secret("")
        if role != "service" {
            password = try Password.read(
                fromStandardInput: passwordFromStandardInput, prompt: "Password for \(userName): ", isNew: true)
        }
        let reply = try await UserAuthServiceClient(gateway).createUser(
            CreateUserRequest(userName: userName, password: password.exposedText, role: role))
        return Reply(try reply.user.present("user"))
    }
}
