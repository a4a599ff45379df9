import AppSupport
import HTTPServer
import RPC

extension Configuration {
    /// Reads the section `apps`: the limits of its listener, and the section of each app.
    ///
    /// - Parameters:
    ///   - web: the limits of the web listener; the app listener has the same ones for slow clients.
    ///   - isOnLoopback: whether the listener exists and is reachable from this machine only.
    static func apps(
        _ reader: inout ConfigurationReader, _ web: HTTPServerConfiguration, isOnLoopback: Bool
    ) throws(ConfigurationError) -> AppsConfiguration {
        var apps = AppsConfiguration()
        apps.server = web
        apps.server.maximumConnections = UInt32(
            try reader.integer("apps.max_connections", default: 256, in: 1...10_000, unit: "connections"))
        let perAddress = try reader.integer(
            "apps.max_connections_per_address", default: 0, in: 0...10_000, unit: "connections")
        apps.server.maximumConnectionsPerAddress =
            perAddress > 0 ? Int(perAddress) : max(1, Int(apps.server.maximumConnections) / 4)
        apps.crossOrigin = try crossOrigin(&reader, section: "apps")
        for kind in AppsConfiguration.known {
            if let app = try app(kind, &reader, isOnLoopback: isOnLoopback) { apps.enabled.append(app) }
        }
        return apps
    }

    /// Returns an app; `nil` if it is disabled.
    private static func app(
        _ kind: any App.Type, _ reader: inout ConfigurationReader, isOnLoopback: Bool
    ) throws(ConfigurationError) -> (any App)? {
        var section = try AppSection(of: kind.name, in: reader, isOnLoopback: isOnLoopback)
        let app: any App
        do {
            app = try kind.init(&section)
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("apps.\(kind.name): \(error)", key: "apps.\(kind.name)")
        }
        reader = section.reader
        return section.isEnabled ? app : nil
    }

    /// Requires that the listener for apps exists if, and only if, there are apps.
    func checkApps() throws(ConfigurationError) {
        if listeners[.apps] == nil, let first = apps.enabled.first {
            let name = type(of: first).name
            throw ConfigurationError(
                "apps.\(name).enabled requires the listener for apps: set listeners.apps to HOST:PORT",
                key: "apps.\(name).enabled")
        }
        if listeners[.apps] != nil, apps.enabled.isEmpty {
            throw ConfigurationError(
                "listeners.apps is set, but no app is enabled: enable one in the section apps, or set the listener to off",
                key: "listeners.apps")
        }
    }
}
