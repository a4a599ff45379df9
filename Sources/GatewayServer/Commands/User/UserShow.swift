import CommandLineInterface
import Proto

/// `data-gateway user show`
struct UserShow: ClientCommand {
    static let name = "show"
    static let summary = "Show a user"

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.userName, "The user's name")] + connectionParameters
    }

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await UserAuthServiceClient(gateway).getUser(GetUserRequest(userName: userName))
        return Reply(try reply.user.present("user"))
    }
}
