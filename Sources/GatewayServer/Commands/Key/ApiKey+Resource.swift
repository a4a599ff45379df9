package import CommandLineInterface
package import Proto

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
