/// What the command line says to `data-gateway serve`.
package struct ServeOptions: Sendable {
    package var dataDirectory: String
    package var configurationPath: String?
    /// `HOST:PORT` by the listener's name (`auth`, `object-store`, …); goes before everything else that says it.
    package var listen: [String: String]

    package init(dataDirectory: String = "", configurationPath: String? = nil, listen: [String: String] = [:]) {
        self.dataDirectory = dataDirectory
        self.configurationPath = configurationPath
        self.listen = listen
    }

    /// What it says by key of the configuration.
    var settings: [String: (option: String, value: String)] {
        ListenerName.allCases.reduce(into: [:]) { settings, name in
            settings[name.key] = listen[name.rawValue].map { (name.option, $0) }
        }
    }
}
