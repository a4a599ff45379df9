import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway identity list`
struct IdentityList: ClientCommand {
    static let name = "list"
    static let summary = "List the identities with which a user can sign in"
    static let listener = CommandListener.auth
    static let examples = ["identity list", "identity list --user alice"]

    static var parameters: [Parameter<Self>] {
        [.option("--user", "NAME", \.userName, "Another user of the organization (requires the role admin)")]
            + connectionParameters
    }

    var userName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            "identities",
            try await IdentityServiceClient(gateway).listIdentities(ListIdentitiesRequest(userName: userName))
                .identities)
    }
}

extension UserIdentity: Resource {
    package static let columns = ["identity_id", "provider", "subject", "email", "last_used_at"]
    package static let expendableColumns = ["subject"]

    package var fields: [ResourceField] {
        [
            .number("identity_id", identityID), .text("provider", provider), .text("issuer", issuer),
            .text("subject", subject), .text("email", email),
            ResourceField(
                name: "email_verified", json: .bool(emailVerified),
                text: email.isEmpty ? "" : emailVerified ? "yes" : "no"),
            .time("created_at", createdAt), .time("last_used_at", lastUsedAt),
        ]
    }
}

/// `data-gateway identity unlink`
struct IdentityUnlink: ClientCommand {
    static let name = "unlink"
    static let summary = "Remove an identity of a user, and end the user's sessions"
    static let listener = CommandListener.auth
    static let examples = ["identity unlink 7"]

    static var parameters: [Parameter<Self>] {
        [.argument("ID", \.identityID, "The identity's id, as in 'identity list'")] + connectionParameters
    }

    var identityID: Int64 = 0
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await IdentityServiceClient(gateway).unlink(UnlinkRequest(identityID: identityID))
        return .deleted("identity_id", .number(identityID), "identity \(identityID)")
    }
}
