import CommandLineInterface
import Proto

/// A suite as an argument: `deviceSuites/NUMBER`, its number, or its display name.
enum SuiteArgument {
    static let help = "The suite: its display name, its number, or deviceSuites/NUMBER"

    /// Returns the resource name of the suite; an empty text stays empty.
    ///
    /// - Throws: `ClientFailure` if no suite or several suites have the display name.
    static func name(of text: String, _ gateway: SignedInConnection) async throws -> String {
        if let name = DeviceNames.suite(number: text) { return name }
        return try SuiteNames(try await DeviceManagementServiceClient(gateway).allSuites()).name(of: text)
    }

    /// Returns the resource name of a suite by which a list is filtered, so that a number without a suite is not a list without
    /// entries; an empty text stays empty.
    ///
    /// - Throws: `ClientFailure` if it does not exist.
    static func existing(_ text: String, _ gateway: SignedInConnection) async throws -> String {
        let name = try await name(of: text, gateway)
        guard !text.isEmpty, DeviceNames.suite(number: text) != nil else { return name }
        return try await DeviceManagementServiceClient(gateway).getDeviceSuite(GetDeviceSuiteRequest(name: name)).name
    }
}

/// The existing suites, which are found by any of their names.
struct SuiteNames: Sendable {
    private let names: Set<String>
    private let namesByTitle: [String: [String]]

    init(_ suites: [DeviceSuite]) {
        names = Set(suites.map(\.name))
        namesByTitle = Dictionary(grouping: suites, by: \.displayName).mapValues { $0.map(\.name) }
    }

    /// Returns the resource name of a suite, which is given as by `SuiteArgument`; an empty text stays empty.
    ///
    /// - Throws: `ClientFailure` if no suite or several suites have the name.
    func name(of text: String) throws(ClientFailure) -> String {
        if let name = DeviceNames.suite(number: text) {
            guard name.isEmpty || names.contains(name) else { throw ClientFailure("\(name) does not exist") }
            return name
        }
        let matches = namesByTitle[text] ?? []
        guard let name = matches.first else { throw ClientFailure("no suite is named \"\(text)\"") }
        guard matches.count == 1 else {
            throw ClientFailure(
                "several suites are named \"\(text)\": use one of \(matches.joined(separator: ", "))")
        }
        return name
    }
}

/// Resource names for the registry's requests, made from the user's input: the full name, or its last part.
enum DeviceNames {
    private static let suitePrefix = "deviceSuites/"

    static func device(_ text: String) -> String { prefixed("devices/", text) }

    static func suite(_ text: String) -> String { prefixed(suitePrefix, text) }

    /// Returns the resource name of a suite that is given by its number or resource name; `nil` = by its display name.
    static func suite(number text: String) -> String? {
        text.isEmpty || text.hasPrefix(suitePrefix) || Int64(text) != nil ? suite(text) : nil
    }

    private static func prefixed(_ prefix: String, _ text: String) -> String {
        text.isEmpty || text.hasPrefix(prefix) ? text : prefix + text
    }
}
