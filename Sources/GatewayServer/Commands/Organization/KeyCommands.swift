import Basics
package import CommandLineInterface
import JSON
package import Proto

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

/// `data-gateway key create`
struct KeyCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create an API key for a site or a device, and show its credential once"
    static let discussion = ["A device has one key; if it has one already, 'key rotate' replaces its credential."]

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE", \.site, "The site that the key is for, by its number or name"),
            .option("--device", "DEVICE_ID", \.deviceID, "The device that the key is for"),
            .option("--name", "TEXT", \.keyName, "The key's name; a device's key has its id by default"),
            .option("--expires", "TIME", \.expiry, "The time at which the key ends, such as 2027-01-31T08:00:00Z"),
        ] + connectionParameters
    }

    var site: String?
    var deviceID: String?
    var keyName = ""
    var expiry: TimeArgument?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let client = AdminAuthServiceClient(gateway)
        let end = expiry.map { Timestamp(seconds: $0.time.seconds) }
        switch (site, deviceID) {
        case (let site?, nil):
            guard !keyName.isEmpty else {
                throw ClientFailure("the key of a site requires --name", exitCode: .usage)
            }
            let number = try await SiteArgument.number(of: site, gateway)
            let reply = try await client.createSiteApiKey(
                CreateSiteApiKeyRequest(siteID: number, keyName: keyName, expiredAt: end))
            return Reply(IssuedKey(key: try reply.apiKey.present("api_key"), credential: reply.credential))
        case (nil, let deviceID?):
            let reply = try await client.createOrRotateDeviceApiKey(
                CreateOrRotateDeviceApiKeyRequest(
                    deviceID: deviceID, keyName: keyName, expiredAt: end, mutationMode: .createOnly))
            return Reply(IssuedKey(key: try reply.apiKey.present("api_key"), credential: reply.credential))
        default: throw ClientFailure("key create needs either --site or --device", exitCode: .usage)
        }
    }
}

/// An argument with a date and time.
struct TimeArgument: ArgumentValue, Hashable, Sendable {
    let time: UnixTime

    init(argument: String) throws(ArgumentProblem) {
        guard let time = UnixTime(dateOrTime: argument) else {
            throw ArgumentProblem("must be a time like 2027-01-31T08:00:00Z or 2027-01-31, not '\(argument)'")
        }
        self.time = time
    }
}

/// `data-gateway key list`
struct KeyList: ClientCommand {
    static let name = "list"
    static let summary = "List the API keys of sites and devices"

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE", \.site, "List only keys of this site and its devices, by its number or name"),
            .option("--device", "DEVICE_ID", \.deviceID, "List only the key of this device"),
        ] + connectionParameters
    }

    var site: String?
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.existing(site, gateway)
        let keys = try await AdminAuthServiceClient(gateway).allAPIKeys(
            ListApiKeysRequest(siteID: number, deviceID: deviceID))
        return Reply("api_keys", keys)
    }
}

extension ApiKey: Resource {
    package static let columns = ["api_key_id", "key_name", "owner", "status", "expired_at", "last_used_at"]
    package static let expendableColumns = ["last_used_at", "expired_at", "owner"]

    package var fields: [ResourceField] {
        [
            .text("api_key_id", apiKeyID), .text("key_name", keyName), .text("owner", owner),
            .number("site_id", principal?.siteID ?? 0), .text("device_id", principal?.deviceID ?? ""),
            EnabledStatus.field(status, of: "API_KEY"),
            .time("expired_at", expiredAt), .time("last_used_at", lastUsedAt),
        ]
    }

    /// The key's owner, `devices/260427-000001` or `sites/4`.
    private var owner: String {
        guard let principal else { return "" }
        return principal.ownerKind == .device ? "devices/\(principal.deviceID)" : "sites/\(principal.siteID)"
    }
}

/// A key with its credential, which the gateway shows once.
struct IssuedKey: Resource {
    static let columns = ["api_key_id"]
    let key: ApiKey
    let credential: String

    var fields: [ResourceField] { key.fields + [.text("credential", credential)] }
}
