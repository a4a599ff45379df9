/// Resource names for the registry's requests, made from the user's input: the full name, or its last part.
enum DeviceNames {
    static func device(_ text: String) -> String { prefixed("devices/", text) }

    static func suite(_ text: String) -> String { prefixed("deviceSuites/", text) }

    private static func prefixed(_ prefix: String, _ text: String) -> String {
        text.isEmpty || text.hasPrefix(prefix) ? text : prefix + text
    }
}
