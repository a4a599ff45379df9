package import AppSupport
package import Configuration
import Settings

/// Everything that is wrong with a configuration, not only what is found first.
package enum ConfigurationFaults {
    package struct Fault: Sendable, Hashable {
        /// One sentence without a full stop.
        package let message: String
        package let key: String?
        /// The line of the key in the file, from 1; `nil` = it is not in the file.
        package let line: Int?
    }

    /// - Returns: the faults in the order of the file's lines; empty where the gateway would start.
    package static func all(
        _ options: ServeOptions, apps: [any App.Type], variables: [String: String]
    ) -> [Fault] {
        do throws(ConfigurationError) {
            let reader = try SettingsReader(options, variables: variables)
            _ = Configuration(reader, apps: apps)
            let faults = reader.faults.map { fault in
                Fault(message: fault.description, key: fault.key, line: fault.key.flatMap { reader.line(of: $0) })
            }
            return faults.sorted { ($0.line ?? 0, $0.message) < ($1.line ?? 0, $1.message) }
        } catch {
            return [Fault(message: error.description, key: error.key, line: nil)]
        }
    }
}
