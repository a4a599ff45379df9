/// The result of InitDevice: the content of `archebase-config.json`, in the format of the SDKs.
package struct DeviceConfiguration: Codable, Sendable, Hashable {
    /// The device's credential, for ExchangeCredential.
    package var apiKey: String
    /// The tags of everything that the device uploads.
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
