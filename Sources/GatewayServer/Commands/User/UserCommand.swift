import Basics
import CommandLineInterface
import JSON
import Proto

/// A command whose only argument is a user.
protocol UserCommand: ClientCommand {
    var userName: String { get set }
}

extension UserCommand {
    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.userName, "The user's name")] + connectionParameters
    }
}

/// `data-gateway user show`
struct UserShow: UserCommand {
    static let name = "show"
    static let summary = "Show a user"

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await UserAuthServiceClient(gateway).getUser(GetUserRequest(userName: userName))
        return Reply(try reply.user.present("user"))
    }
}

/// `data-gateway user reset-second-factor`
struct UserResetSecondFactor: UserCommand {
    static let name = "reset-second-factor"
    static let summary = "Remove the second factor of a user who lost it"

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await IdentityManagementServiceClient(gateway).resetSecondFactor(
            ResetSecondFactorRequest(userName: userName))
        return Reply(
            json: .object([.init(name: "user_name", value: .string(userName))]),
            text: "removed the second factor of \(userName)")
    }
}

/// `data-gateway user delete`
struct UserDelete: UserCommand {
    static let name = "delete"
    static let summary = "Delete a user or a service account (its tokens stop working with the next call)"

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await UserAuthServiceClient(gateway).deleteUser(DeleteUserRequest(userName: userName))
        return .deleted("user_name", .string(userName), "user \(userName)")
    }
}
