import Basics
import CommandLineInterface
import JSON
import Proto

/// A command whose only argument is an API key.
protocol KeyCommand: ClientCommand {
    var keyID: String { get set }
}

extension KeyCommand {
    static var parameters: [Parameter<Self>] {
        [.argument("KEY_ID", \.keyID, "The key's id, as printed by 'key list'")] + connectionParameters
    }
}

/// `data-gateway key show`
struct KeyShow: KeyCommand {
    static let name = "show"
    static let summary = "Show an API key"

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).getApiKey(GetApiKeyRequest(apiKeyID: keyID))
        return Reply(try reply.apiKey.present("api_key"))
    }
}

/// `data-gateway key rotate`
struct KeyRotate: KeyCommand {
    static let name = "rotate"
    static let summary = "Replace the credential of an API key, and show the new one once"
    static let discussion = ["The previous credential and its tokens stop working with the next call."]

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).rotateApiKeySecret(
            RotateApiKeySecretRequest(apiKeyID: keyID))
        return Reply(IssuedKey(key: try reply.apiKey.present("api_key"), credential: reply.credential))
    }
}

/// `data-gateway key enable`
struct KeyEnable: KeyCommand {
    static let name = "enable"
    static let summary = "Enable a disabled API key"

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).enableApiKey(EnableApiKeyRequest(apiKeyID: keyID))
        return Reply(try reply.apiKey.present("api_key"))
    }
}

/// `data-gateway key disable`
struct KeyDisable: KeyCommand {
    static let name = "disable"
    static let summary = "Disable an API key (its tokens stop working with the next call)"

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).disableApiKey(DisableApiKeyRequest(apiKeyID: keyID))
        return Reply(try reply.apiKey.present("api_key"))
    }
}

/// `data-gateway key delete`
struct KeyDelete: KeyCommand {
    static let name = "delete"
    static let summary = "Delete an API key (its tokens stop working with the next call)"

    var keyID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await AdminAuthServiceClient(gateway).deleteApiKey(DeleteApiKeyRequest(apiKeyID: keyID))
        return .deleted("api_key_id", .string(keyID), "key \(keyID)")
    }
}
