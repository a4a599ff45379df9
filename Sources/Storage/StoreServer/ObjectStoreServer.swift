import Basics
import HTTPServer
import HTTPTypes
import ObjectStore

/// The store's listener: HTTP/1.1 in the dialects of OSS and S3.
package final class ObjectStoreServer: Sendable {
    private let daemon: HTTPDaemon
    /// Handles requests as the listener does, for parts of the gateway that read objects in the name of a client.
    package let handler: any HTTPRequestHandler

    /// Listens on `host` and `port` (0 = a free port), and serves until it is stopped.
    package init(
        host: String, port: UInt16, store: ObjectStore, policy: any AccessPolicy,
        configuration: StoreServerConfiguration = StoreServerConfiguration(), log: Logger = .discarding
    ) throws {
        let handler = StoreHandler(store: store, policy: policy, configuration: configuration, log: log)
        self.handler = handler
        daemon = try HTTPDaemon(host: host, port: port, configuration: configuration.daemon, handler: handler)
    }

    /// The numeric address in use.
    package var host: String { daemon.host }
    package var port: UInt16 { daemon.port }

    /// Stops accepting, waits at most `seconds` for requests in progress, and closes all connections. Blocks.
    package func stop(drainingFor limit: Duration) {
        daemon.stop(drainingFor: limit)
    }
}
