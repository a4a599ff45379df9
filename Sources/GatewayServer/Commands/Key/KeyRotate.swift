import CommandLineInterface
import Proto

/// `data-gateway key rotate`
struct KeyRotate: ClientCommand {
    static let name = "rotate"
    static let summary = "Replace the credential of an API key, and show the new one once"
    static let discussion = ["The previous credential and its tokens stop working with the next call."]

    static var parameters: [Parameter<Self>] {
        [.argument("KEY_ID", \.keyID, "The key's id, as printed by 'key list'")] + connectionParameters
    }

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).rotateApiKeySecret(
            RotateApiKeySecretRequest(apiKeyID: keyID))
        return Reply(IssuedKey(key: try reply.apiKey.present("api_key"), credential: reply.credential))
    }
}
