import CommandLineInterface
import Proto

/// A suite as an argument: `deviceSuites/NUMBER`, its number, or its display name.
enum SuiteArgument {
    static let help = "The suite: its display name, its number, or deviceSuites/NUMBER"

    /// Returns the resource name of the suite; an empty text stays empty.
    ///
    /// - Throws: `ClientFailure` if no suite or several suites have the display name.
    static func name(of text: String, _ gateway: SignedInConnection) async throws -> String {
        if text.isEmpty || text.hasPrefix("deviceSuites/") || Int64(text) != nil { return DeviceNames.suite(text) }
        let matches = try await DeviceManagementServiceClient(gateway).allSuites().filter { $0.displayName == text }
        guard let suite = matches.first else { throw ClientFailure("no suite is named \"\(text)\"") }
        guard matches.count == 1 else {
            let names = matches.map(\.name).joined(separator: ", ")
            throw ClientFailure("several suites are named \"\(text)\": use one of \(names)")
        }
        return suite.name
    }
}

/// Resource names for the registry's requests, made from the user's input: the full name, or its last part.
enum DeviceNames {
    static func device(_ text: String) -> String { prefixed("devices/", text) }

    static func suite(_ text: String) -> String { prefixed("deviceSuites/", text) }

    private static func prefixed(_ prefix: String, _ text: String) -> String {
        text.isEmpty || text.hasPrefix(prefix) ? text : prefix + text
    }
}
