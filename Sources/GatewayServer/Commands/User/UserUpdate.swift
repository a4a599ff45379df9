import CommandLineInterface
import Proto

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
