import CommandLineInterface
import Proto

/// `data-gateway key delete`
struct KeyDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete an API key (its tokens stop working with the next call)"

    static var parameters: [Parameter<Self>] {
        [.argument("KEY_ID", \.keyID, "The key's id, as printed by 'key list'")] + connectionParameters
    }

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await AdminAuthServiceClient(gateway).deleteApiKey(DeleteApiKeyRequest(apiKeyID: keyID))
        return .deleted("api_key_id", .string(keyID), "key \(keyID)")
    }
}
