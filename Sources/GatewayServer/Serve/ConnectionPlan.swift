import Configuration
import Settings

/// The numbers of connections for the listeners, such that the process keeps descriptors for everything else.
///
/// If the limit of the process (RLIMIT_NOFILE) is too low for the configuration, there are fewer connections: the HTTP/1.1
/// listeners, which also open files, get up to half of the descriptors, and the gRPC listeners share the rest equally. So no
/// listener can use up the descriptors of another.
struct ConnectionPlan: Sendable, Equatable {
    /// A listener for HTTP/1.1.
    struct HTTPListener: Sendable, Equatable {
        var connections: Int
        /// The largest number of descriptors that one connection keeps open: its socket, and files or events.
        var descriptors: Int

        fileprivate var need: Int { connections * descriptors }
    }

    /// The smallest number of connections with which a gateway is useful.
    private static let leastConnections = 128

    private(set) var http: [HTTPListener]
    /// The limit for each gRPC listener.
    private(set) var grpc: Int
    /// Whether there are fewer connections than configured.
    private(set) var isLowered = false

    /// - Parameters:
    ///   - descriptors: the process's limit of open descriptors.
    ///   - loops: the number of event loops, each with its own descriptors for each listener.
    ///   - grpc: the configured connections for each gRPC listener.
    /// - Throws: if there are too few descriptors.
    init(
        descriptors: Int, loops: Int, http: [HTTPListener], grpcListeners: Int, grpc: Int
    ) throws(ConfigurationError) {
        // For the database, its readers, logs, webhooks, copies, backups.
        let reserve = 256 + 12 * loops
        let available = descriptors - reserve
        guard available >= Self.leastConnections else {
            throw ConfigurationError(
                "the process may open \(descriptors) files, but a gateway on this machine needs at least"
                    + " \(reserve + Self.leastConnections): raise the limit (LimitNOFILE of the service, ulimit -n)"
            )
        }
        self.http = http
        let wanted = http.reduce(0) { $0 + $1.need }
        if wanted > available / 2 {
            isLowered = true
            for index in http.indices {
                self.http[index].connections = max(1, http[index].connections * (available / 2) / wanted)
            }
        }
        let left = available - self.http.reduce(0) { $0 + $1.need }
        self.grpc = min(grpc, max(1, left / max(1, grpcListeners)))
        if self.grpc < grpc { isLowered = true }
    }
}
