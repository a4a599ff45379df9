import Configuration

/// How many connections the listeners may have so that the process keeps descriptors for everything else.
///
/// Where the limit of the process (RLIMIT_NOFILE) does not allow what is configured, connections are fewer: those of the
/// HTTP/1.1 listeners, which have files, too, get up to half of what there is, and the gRPC listeners the rest in equal
/// parts. No listener can then take the descriptors of another.
struct ConnectionPlan: Sendable, Equatable {
    /// A listener for HTTP/1.1.
    struct HTTPListener: Sendable, Equatable {
        var connections: Int
        /// The most that one connection keeps open: its socket, and files or events.
        var descriptors: Int

        fileprivate var need: Int { connections * descriptors }
    }

    /// The fewest connections with which a gateway is of any use.
    private static let leastConnections = 128

    private(set) var http: [HTTPListener]
    /// The limit for each gRPC listener.
    private(set) var grpc: Int
    /// Whether it is less than what was asked for.
    private(set) var isLowered = false

    /// - Parameters:
    ///   - descriptors: what the process may have open.
    ///   - loops: event loops, each with descriptors of its own for each listener.
    ///   - grpc: connections wanted for each gRPC listener.
    /// - Throws: where there is no room for anybody.
    init(
        descriptors: Int, loops: Int, http: [HTTPListener], grpcListeners: Int, grpc: Int
    ) throws(ConfigurationError) {
        // The database, its readers, logs, webhooks, copies, backups.
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
