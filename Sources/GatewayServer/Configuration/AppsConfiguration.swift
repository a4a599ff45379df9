package import AppSupport
package import HTTPServer
package import RPC
import Webhooks

/// The settings of the listener `apps`, and of the apps that are enabled.
package struct AppsConfiguration: Sendable {
    package var enabled: [any App] = []
    /// The web origins that may call apps; `nil` = none.
    package var crossOrigin: CrossOrigin?
    package var server = HTTPServerConfiguration()

    package init() {}

    /// The types of the events for webhooks that apps report.
    static var eventTypes: [EventType] { known.flatMap { $0.eventTypes } }
}
