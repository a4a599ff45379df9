import AppSupport
import Capability
import HTTPServer
import RPC
import Settings

extension AppsConfiguration {
    /// Reads the section `apps`: the limits of its listener, and the section of each app.
    ///
    /// - Parameters:
    ///   - web: the limits of the web listener; the app listener has the same ones for slow clients.
    ///   - isOnLoopback: whether the listener exists and is reachable from this machine only.
    init(_ settings: SettingsReader, _ web: HTTPServerConfiguration, isOnLoopback: Bool) {
        let section = settings.section("apps")
        server = web
        server.readConnections(section)
        crossOrigin = CrossOrigin(section)
        for kind in Self.known {
            let own = section.section(kind.name)
            let isEnabled = own.flag("enabled", default: false)
            let app = kind.init(AppSettings(own, isEnabled: isEnabled, isOnLoopback: isOnLoopback))
            if isEnabled { enabled.append(app) }
        }
    }
}

extension Configuration {
    /// Requires that the listener for apps exists if, and only if, there are apps.
    func checkApps(_ settings: SettingsReader) {
        if listeners[.apps] == nil, let first = apps.enabled.first {
            settings.reject(
                "apps.\(type(of: first).name).enabled",
                "requires the listener for apps: set listeners.apps to HOST:PORT")
        }
        if listeners[.apps] != nil, apps.enabled.isEmpty {
            settings.reject(
                "listeners.apps",
                "is set, but no app is enabled: enable one in the section apps, or set the listener to off")
        }
    }
}
