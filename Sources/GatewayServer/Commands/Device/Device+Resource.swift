import Proto

extension Device: Resource {
    static let columns = ["device_id", "display_name", "status", "suite", "site_id", "last_seen_at"]

    var fields: [ResourceField] {
        [
            .text("name", name), .text("device_id", deviceID), .text("display_name", displayName),
            .text("description", description), .text("suite", suite), .map("tags", tags),
            .text("status", status.protoName, shownAs: status.word), .number("site_id", siteID),
            .text("sdk_version", sdkVersion), .text("platform", platform), .time("initialized_at", initializedAt),
            .time("last_seen_at", lastSeenAt), .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}

extension DeviceSuite: Resource {
    static let columns = ["name", "display_name", "site_id", "created_at"]

    var fields: [ResourceField] {
        [
            .text("name", name), .number("site_id", siteID), .text("display_name", displayName),
            .text("description", description), .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}

extension DeviceStatus {
    /// What people call it, here and in `--status`.
    var word: String {
        switch self {
        case .unspecified: "unspecified"
        case .registered: "registered"
        case .initialized: "initialized"
        case .disabled: "disabled"
        case .unrecognized(let number): "\(number)"
        }
    }

    /// Its name in the `.proto` file; a number that has none is that number.
    var protoName: String {
        if case .unrecognized(let number) = self { return "\(number)" }
        return "DEVICE_STATUS_\(word.uppercased())"
    }
}

/// The resource names that the registry's requests take, from what people type: the name, or its last part.
enum DeviceNames {
    static func device(_ text: String) -> String { prefixed("devices/", text) }

    static func suite(_ text: String) -> String { prefixed("deviceSuites/", text) }

    private static func prefixed(_ prefix: String, _ text: String) -> String {
        text.isEmpty || text.hasPrefix(prefix) ? text : prefix + text
    }
}

extension [TagArgument] {
    /// - Throws: where a key is given twice, since one of the values would be lost.
    func dictionary() throws(ClientFailure) -> [String: String] {
        var result: [String: String] = [:]
        for tag in self where result.updateValue(tag.value, forKey: tag.key) != nil {
            throw ClientFailure("the tag \(tag.key) is given twice", exitCode: .usage)
        }
        return result
    }
}
