package import Basics
import Capability
package import Settings

/// The command-line options of `data-gateway serve`.
package struct ServeOptions: Sendable {
    package var dataDirectory: String
    package var configurationPath: String?
    /// The addresses `HOST:PORT` by listener name (`auth`, `object-store`, …), which take precedence over all other sources.
    package var listen: [String: String]
    /// Whether the prefix of a bucket is taken over from a gateway that does not renew it.
    package var takesOver = false

    package init(dataDirectory: String = "", configurationPath: String? = nil, listen: [String: String] = [:]) {
        self.dataDirectory = dataDirectory
        self.configurationPath = configurationPath
        self.listen = listen
    }

    /// The settings by configuration key.
    var settings: [String: (option: String, value: String)] {
        ListenerName.allCases.reduce(into: [:]) { settings, name in
            settings[name.key] = listen[name.rawValue].map { (name.option, $0) }
        }
    }
}

extension SettingsReader {
    /// - Parameters:
    ///   - variables: the environment.
    ///   - log: receives the warnings.
    package init(
        _ options: ServeOptions, variables: [String: String], log: Logger = .discarding
    ) throws(ConfigurationError) {
        try self.init(path: options.configurationPath, variables: variables, options: options.settings, log: log)
    }
}
