import CommandLineInterface
import Proto

/// `data-gateway key enable`
struct KeyEnable: ClientCommand {
    static let name = "enable"
    static let summary = "Enable a disabled API key"

    static var parameters: [Parameter<Self>] {
        [.argument("KEY_ID", \.keyID, "The key's id, as printed by 'key list'")] + connectionParameters
    }

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).enableApiKey(EnableApiKeyRequest(apiKeyID: keyID))
        return Reply(try reply.apiKey.present("api_key"))
    }
}
