import FoundationEssentials
package import GatewayFormats

/// The string that apps accept instead of a file, typed, pasted or scanned: JSON on one line, with the members of
/// `archebase-endpoints.json` and `device_id`.
package struct ConfigurationString: Encodable, Sendable, Hashable {
    package let endpoints: Endpoints
    package let deviceID: String

    package init(_ endpoints: Endpoints, deviceID: String) {
        self.endpoints = endpoints
        self.deviceID = deviceID
    }

    private enum CodingKeys: String, CodingKey {
        case deviceID = "device_id"
    }

    package func encode(to encoder: any Encoder) throws {
        try endpoints.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(deviceID, forKey: .deviceID)
    }

    package func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension Endpoints {
    /// Returns the content of the file `archebase-endpoints.json`, without a final line feed.
    package func text() throws -> String {
        String(decoding: try DeviceFolder.encoder.encode(self), as: UTF8.self)
    }
}
