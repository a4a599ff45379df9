package import CommandLineInterface
package import Proto

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
