import Basics
import HTTPServer
import ObjectStore

/// The store's listener: HTTP/1.1 in the dialects of OSS and S3.
package final class ObjectStoreServer: Sendable {
    package struct Configuration: Sendable {
        /// Lower-case domains under which a host's first label is the bucket, e.g. `oss-lab.example.com`. Requests to
        /// any other host are in path style.
        package var bucketDomains: [String] = []
        /// The host and port of the endpoint that clients are told, which those of S3 sign; nil where they see the one
        /// that arrives here.
        package var publicAuthority: String?
        /// By how many seconds the date that a client signed may be off; nil = the date is not policed.
        package var maximumClockSkew: Int64?
        package var daemon = HTTPDaemon.Configuration()
        /// Told of every request that ended with 5xx: its request id and what happened.
        package var report: @Sendable (String, any Error) -> Void = { _, _ in }

        package init() {}
    }

    private let daemon: HTTPDaemon

    /// Listens on `host` and `port` (0 = a free one), and serves until it is stopped.
    package init(
        host: String, port: UInt16, store: ObjectStore, policy: any AccessPolicy,
        configuration: Configuration = Configuration()
    ) throws {
        let handler = StoreHandler(store: store, policy: policy, configuration: configuration)
        daemon = try HTTPDaemon(host: host, port: port, configuration: configuration.daemon, handler: handler)
    }

    /// The numeric address that is listened on.
    package var host: String { daemon.host }
    package var port: UInt16 { daemon.port }

    /// Takes no new connection, lets requests in flight end, at most `seconds`, and closes all. Blocks.
    package func stop(drainingFor seconds: Int) {
        daemon.stop(drainingFor: seconds)
    }
}
