package import CommandLineInterface
package import Proto

/// `data-gateway keys rotate`
struct KeysRotate: ClientCommand {
    static let name = "rotate"
    static let summary = "Rotate the token-signing key"
    static let discussion = [
        """
        Issued tokens stay valid: the gateway publishes each older key and accepts its tokens until the last \
        of them has expired.
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
