/// What the command line says to `data-gateway serve`.
struct ServeOptions: Sendable {
    var dataDirectory: String
    var configurationPath: String?
    /// `HOST:PORT` by the listener's name (`auth`, `object-store`, …); goes before the configuration file.
    var listen: [String: String] = [:]
}
