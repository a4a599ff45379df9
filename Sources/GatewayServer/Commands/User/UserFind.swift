package import CommandLineInterface
package import Proto

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
