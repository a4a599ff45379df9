/// What InitDevice gave: `archebase-config.json`, as the SDKs write it.
public struct DeviceConfiguration: Codable, Sendable, Hashable {
    /// The device's credential, as ExchangeCredential takes it.
    public var apiKey: String
    /// On everything that the device uploads.
    public var tags: [String: String]

    public init(apiKey: String, tags: [String: String]) {
        self.apiKey = apiKey
        self.tags = tags
    }

    enum CodingKeys: String, CodingKey {
        case apiKey = "api_key"
        case tags
    }
}
