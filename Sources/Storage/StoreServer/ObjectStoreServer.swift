import Basics
import HTTPServer
import ObjectStore

/// The store's listener: HTTP/1.1 in the dialects of OSS and S3.
package final class ObjectStoreServer: Sendable {
    private let daemon: HTTPDaemon

    /// Listens on `host` and `port` (0 = a free one), and serves until it is stopped.
    package init(
        host: String, port: UInt16, store: ObjectStore, policy: any AccessPolicy,
        configuration: StoreServerConfiguration = StoreServerConfiguration(), log: Logger = .discarding
    ) throws {
        let handler = StoreHandler(store: store, policy: policy, configuration: configuration, log: log)
        daemon = try HTTPDaemon(host: host, port: port, configuration: configuration.daemon, handler: handler)
    }

    /// The numeric address that is listened on.
    package var host: String { daemon.host }
    package var port: UInt16 { daemon.port }

    /// Takes no new connection, lets requests in flight end, at most `seconds`, and closes all. Blocks.
    package func stop(drainingFor limit: Duration) {
        daemon.stop(drainingFor: limit)
    }
}
