package import AppSupport
import Capability
import Configuration
package import HTTPServer
import HTTPTypes
package import RPC
import Settings

/// The settings of the listener `apps`, and of the apps that are enabled.
package struct AppsConfiguration: Sendable {
    /// All apps of the program, in the order in which their settings are read.
    package let known: [any App.Type]
    package var enabled: [any App] = []
    /// The web origins that may call apps; `nil` = none.
    package var crossOrigin: CrossOrigin?
    package var server = HTTPServerConfiguration()

    /// Settings in which no app is enabled.
    package init(known: [any App.Type]) {
        self.known = known
    }

    /// Reads the section `apps`: the limits of its listener, and the section of each app.
    ///
    /// - Parameter configuration: the limits of its web listener for slow clients are also those of the app listener.
    init(_ settings: SettingsReader, known: [any App.Type], _ configuration: Configuration) {
        self.init(known: known)
        let section = settings.section("apps")
        server = configuration.web
        server.readConnections(section)
        crossOrigin = CrossOrigin(section)
        let address = configuration.listeners[.apps]
        for kind in known {
            let own = section.section(kind.name)
            let isEnabled = own.flag("enabled", default: false)
            let app = kind.init(AppSettings(own, isEnabled: isEnabled, isOnLoopback: address?.isLoopback == true))
            if isEnabled { enabled.append(app) }
        }
        if address == nil, let first = enabled.first {
            settings.reject(
                "apps.\(type(of: first).name).enabled",
                "requires the listener for apps: set listeners.apps to HOST:PORT")
        }
        if address != nil, enabled.isEmpty {
            settings.reject(
                "listeners.apps",
                "is set, but no app is enabled: enable one in the section apps, or set the listener to off")
        }
    }
}
