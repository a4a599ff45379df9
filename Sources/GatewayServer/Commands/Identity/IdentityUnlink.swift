import Basics
import CommandLineInterface
import JSON
import Proto

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
