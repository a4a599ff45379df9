/// What the command line says to `data-gateway serve`.
struct ServeOptions: Sendable {
    var dataDirectory = ""
    var configurationPath: String?
    /// `HOST:PORT` by the listener's name (`auth`, `object-store`, …); goes before everything else that says it.
    var listen: [String: String] = [:]

    /// What it says by key of the configuration.
    var settings: [String: (option: String, value: String)] {
        ListenerName.allCases.reduce(into: [:]) { settings, name in
            settings[name.key] = listen[name.rawValue].map { (name.option, $0) }
        }
    }
}
