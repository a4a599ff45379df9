import CommandLineInterface
import Proto

/// `data-gateway keys rotate`
struct KeysRotate: ClientCommand {
    static let name = "rotate"
    static let summary = "Have a new key sign access tokens"
    static let discussion = [
        """
        Tokens that were issued before stay valid: the older keys go on verifying, and stay published, until the last \
        token that they signed has ended.
        """
    ]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await IdentityManagementServiceClient(gateway).rotateSigningKey(RotateSigningKeyRequest()))
    }
}

extension RotateSigningKeyResponse: Resource {
    package static let columns = ["key_id"]

    package var fields: [ResourceField] {
        [.text("key_id", keyID), .texts("older_key_ids", olderKeyIDs)]
    }
}
