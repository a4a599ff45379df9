import CommandLineInterface
import Proto

/// `data-gateway user list`
struct UserList: ClientCommand {
    static let name = "list"
    static let summary = "List the organization's users"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("users", try await UserAuthServiceClient(gateway).listUsers(ListUsersRequest()).users)
    }
}
