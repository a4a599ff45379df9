import CommandLineInterface
import Proto

/// `data-gateway user delete`
struct UserDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete a user or a service account (its tokens stop working with the next call)"

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.userName, "The user's name")] + connectionParameters
    }

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await UserAuthServiceClient(gateway).deleteUser(DeleteUserRequest(userName: userName))
        return .deleted("user_name", .string(userName), "user \(userName)")
    }
}
