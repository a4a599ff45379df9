import CommandLineInterface
import Crypto
import Proto

/// `data-gateway user create`
struct UserCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a user or a service account"
    static let discussion = [
        """
        Asks twice for the new user's password on the terminal. A service account has no password; 'user credential' issues \
        its credential.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.userName, "The user's name"),
            .option(
                "--role", "ROLE", \.role, "The user's role: admin, operator, viewer, member or service",
                isRequired: true),
            .flag(
                "--password-stdin", \.passwordFromStandardInput,
                "Read the password from the first line of standard input"),
        ] + connectionParameters
    }

    var userName = ""
    var role = UserRole.viewer
    var passwordFromStandardInput = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        var password = Secret("")
        if role != .service {
            password = try Password.read(
                fromStandardInput: passwordFromStandardInput, prompt: "Password for \(userName): ", isNew: true)
        }
        let reply = try await UserAuthServiceClient(gateway).createUser(
            CreateUserRequest(userName: userName, password: password.exposedText, role: role.rawValue))
        return Reply(try reply.user.present("user"))
    }
}

/// `data-gateway user update`
struct UserUpdate: ClientCommand {
    static let name = "update"
    static let summary = "Change a user's role"
    static let discussion = ["The user's tokens stop working with the next call; the user signs in again."]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.userName, "The user's name"),
            .option("--role", "ROLE", \.role, "The new role: admin, operator, viewer or member", isRequired: true),
        ] + connectionParameters
    }

    var userName = ""
    var role = UserRole.viewer
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await UserAuthServiceClient(gateway).updateUser(
            UpdateUserRequest(userName: userName, role: role.rawValue))
        return Reply(try reply.user.present("user"))
    }
}

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
