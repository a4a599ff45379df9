package import Settings
package import StoreProtocol

/// The kind of a destination in the configuration: a folder of this machine, or a bucket.
package enum DestinationKind: String, CaseIterable, Sendable {
    case directory
    case oss
    case s3

    /// The protocol of the bucket's store; `nil` for a folder.
    package var dialect: ClientRequest.Dialect? {
        switch self {
        case .directory: nil
        case .oss: .oss
        case .s3: .s3
        }
    }
}

/// A bucket of another object store in the configuration, with the credentials for it.
package struct BucketSettings: Sendable {
    package let dialect: ClientRequest.Dialect
    package let endpoint: StoreEndpoint
    package let bucket: String
    /// The region in the signature's scope.
    package let region: String
    package let credentials: SigningCredentials
    /// The size of a part in bytes.
    package let partSize: Int64
    /// The PEM file of authorities for the store's certificate; `nil` = those that the system trusts.
    package let authorities: String?

    /// Reads the keys of a bucket; `nil` after a fault without which it cannot be read further.
    package init?(_ settings: SettingsReader, _ dialect: ClientRequest.Dialect) {
        self.dialect = dialect
        guard let address = settings.text("endpoint", unit: "URL", bounds: SettingsReader.endpointBounds),
            let endpoint = settings.endpoint(address)
        else { return nil }
        self.endpoint = endpoint
        let bucket = settings.text("bucket", unit: "name")
        if let bucket { settings.checkBucket(bucket) }
        let authorities = settings.text("authorities", default: "", unit: "PEM file")
        self.authorities = authorities.isEmpty ? nil : authorities
        region = settings.text("region", default: dialect == .s3 ? "us-east-1" : endpoint.region)
        let id = settings.text("access_key_id")
        let secret = settings.secret(least: 1)
        partSize = settings.integer(
            "part_size_bytes", default: 67_108_864, in: 5_242_880...5_368_709_120, unit: "bytes")
        guard let bucket, let id, let secret else { return nil }
        self.bucket = bucket
        credentials = SigningCredentials(accessKeyID: id, secret: secret)
    }
}

extension SettingsReader {
    /// The valid endpoints, for the documentation.
    package static let endpointBounds = "`http[s]://HOST[:PORT]`"

    /// Reads the value of the key `endpoint`; `nil` after a fault.
    package func endpoint(_ text: String) -> StoreEndpoint? {
        do {
            return try StoreEndpoint(text)
        } catch {
            reject("endpoint", "is not valid: \(error)")
            return nil
        }
    }

    /// Checks the value of the key `bucket`.
    package func checkBucket(_ name: String) {
        guard !ObjectName.isBucket(name) else { return }
        reject("bucket", "must be 3 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen")
    }

    /// Reads the key `root`, a folder of this machine; `nil` after a fault.
    package func folder() -> String? {
        guard let root = text("root", unit: "path", bounds: "absolute") else { return nil }
        guard root.hasPrefix("/"), !root.hasSuffix("/") else {
            reject("root", "must be an absolute path that does not end with a slash")
            return nil
        }
        return root
    }
}
