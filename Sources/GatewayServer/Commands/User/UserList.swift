import CommandLineInterface
import Proto

/// `data-gateway user list`
struct UserList: ClientCommand {
    static let name = "list"
    static let summary = "List the organization's users"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = UserAuthServiceClient(gateway)
        return Reply(
            "users",
            try await Pages.all { token in
                let page = try await service.listUsers(ListUsersRequest(pageSize: Pages.size, pageToken: token))
                return (page.users, page.nextPageToken)
            })
    }
}
