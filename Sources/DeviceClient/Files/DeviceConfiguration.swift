/// What InitDevice gave: `archebase-config.json`, as the SDKs write it.
package struct DeviceConfiguration: Codable, Sendable, Hashable {
    /// The device's credential, as ExchangeCredential takes it.
    package var apiKey: String
    /// On everything that the device uploads.
    package var tags: [String: String]

    package init(apiKey: String, tags: [String: String]) {
        self.apiKey = apiKey
        self.tags = tags
    }

    enum CodingKeys: String, CodingKey {
        case apiKey = "api_key"
        case tags
    }
}
