package import Basics
import HTTPServer
package import HTTPTypes
package import ObjectStore

/// The store's listener: HTTP/1.1 in the dialects of OSS and S3.
package final class ObjectStoreServer: Sendable {
    private let daemon: HTTPDaemon?
    /// Handles requests as the listener does, for parts of the gateway that read objects in the name of a client.
    package let handler: any HTTPRequestHandler

    /// Listens on `address` (port 0 = a free port), and serves until it is stopped.
    ///
    /// - Parameter address: `nil` = it does not listen, and serves through ``handler`` only.
    package init(
        address: PeerAddress?, store: ObjectStore, policy: any AccessPolicy,
        configuration: StoreServerConfiguration = StoreServerConfiguration(), log: Logger = .discarding
    ) throws {
        let handler = StoreHandler(store: store, policy: policy, configuration: configuration, log: log)
        self.handler = handler
        daemon = try address.map {
            try HTTPDaemon(
                host: $0.host, port: UInt16($0.port), configuration: configuration.daemon, handler: handler)
        }
    }

    /// The numeric address in use; `nil` = it does not listen.
    package var address: PeerAddress? { daemon.map { PeerAddress(host: $0.host, port: Int($0.port)) } }
    /// The port in use; 0 if it does not listen.
    package var port: UInt16 { daemon?.port ?? 0 }

    /// Stops accepting, waits at most `seconds` for requests in progress, and closes all connections. Blocks.
    package func stop(drainingFor limit: Duration) {
        daemon?.stop(drainingFor: limit)
    }
}
