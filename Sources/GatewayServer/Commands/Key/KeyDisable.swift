import CommandLineInterface
import Proto

/// `data-gateway key disable`
struct KeyDisable: ClientCommand {
    static let name = "disable"
    static let summary = "Disable an API key (its tokens stop working with the next call)"

    static var parameters: [Parameter<Self>] {
        [.argument("KEY_ID", \.keyID, "The key's id, as printed by 'key list'")] + connectionParameters
    }

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).disableApiKey(DisableApiKeyRequest(apiKeyID: keyID))
        return Reply(try reply.apiKey.present("api_key"))
    }
}
