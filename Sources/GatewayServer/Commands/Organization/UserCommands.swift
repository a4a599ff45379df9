import Basics
package import CommandLineInterface
import JSON
package import Proto

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

/// `data-gateway user find`
struct UserFind: ClientCommand {
    static let name = "find"
    static let summary = "Show the users who sign in with an e-mail address"
    static let discussion = ["The audit log has a line for each search, without the address."]
    static let listener = CommandListener.auth
    static let examples = ["user find --email ada@example.com --organization app-users"]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--email", "ADDRESS", \.email, "The whole address; the case of letters does not matter",
                isRequired: true)
        ] + connectionParameters
    }

    var email = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let found = try await IdentityServiceClient(gateway).findUsersByEmail(FindUsersByEmailRequest(email: email))
        return Reply("users", found.users)
    }
}

extension FoundUser: Resource {
    package static let columns = ["user_name", "role", "issuer", "email", "last_used_at"]

    package var fields: [ResourceField] {
        (user?.fields ?? []) + (identity?.fields.filter { $0.name != "created_at" } ?? [])
    }
}

/// `data-gateway user credential`
struct UserCredential: ClientCommand {
    static let name = "credential"
    static let summary = "Issue a new system credential to a service account, and show it once"
    static let discussion = [
        "The account's previous credential and its tokens stop working with the next call."
    ]

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.userName, "The service account's name")] + connectionParameters
    }

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await IdentityManagementServiceClient(gateway).issueSystemCredential(
                IssueSystemCredentialRequest(userName: userName)))
    }
}

extension IssueSystemCredentialResponse: Resource {
    package static let columns = ["user_name"]

    package var fields: [ResourceField] {
        [.text("user_name", userName), .text("credential", credential)]
    }
}

extension User: Resource {
    package static let columns = ["user_name", "role", "second_factor", "last_login_at", "created_at"]
    package static let expendableColumns = ["created_at", "last_login_at", "second_factor"]

    package var fields: [ResourceField] {
        [
            .text("organization", organization), .text("user_name", userName), .text("role", role),
            .text("second_factor", secondFactorText), .time("last_login_at", lastLoginAt),
            .time("created_at", createdAt), .time("updated_at", updatedAt),
            .number("organization_id", organizationID), .number("user_id", userID),
        ]
    }
}

extension User {
    /// The state of the second factor; empty in responses without it.
    private var secondFactorText: String {
        switch secondFactor {
        case .off: "off"
        case .on: "on"
        case .missing: "missing"
        default: ""
        }
    }
}

/// The roles of a user, as arguments.
enum UserRole: String, ArgumentChoice {
    case admin, `operator`, viewer, member, service
}
