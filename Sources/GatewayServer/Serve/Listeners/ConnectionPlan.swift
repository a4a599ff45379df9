import Basics
import Capability
import Configuration
import HTTPServer
import RPC
import Settings
import StoreServer

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

extension Configuration {
    /// Lowers the limits of connections to what the process's limit of descriptors allows.
    ///
    /// - Parameters:
    ///   - descriptors: the process's limit of open descriptors.
    ///   - loops: the number of event loops.
    /// - Returns: the plan, if it has fewer connections than configured.
    mutating func fitConnections(descriptors: Int, loops: Int) throws(ConfigurationError) -> ConnectionPlan? {
        let plan = try ConnectionPlan(
            descriptors: descriptors, loops: loops,
            http: [
                // A socket, the file of a request body, and the file of an object.
                ConnectionPlan.HTTPListener(
                    connections: Int(self[StoreConfiguration.self].server.daemon.maximumConnections), descriptors: 3),
                // A socket, and the event that wakes its thread.
                ConnectionPlan.HTTPListener(connections: Int(web.maximumConnections), descriptors: 2),
                ConnectionPlan.HTTPListener(connections: Int(ops.maximumConnections), descriptors: 1),
                ConnectionPlan.HTTPListener(
                    connections: listeners[.apps] == nil ? 0 : Int(apps.server.maximumConnections), descriptors: 2),
            ],
            grpcListeners: ListenerName.grpc.count { listeners[$0] != nil }, grpc: rpc.maxConnections)
        guard plan.isLowered else { return nil }
        self[StoreConfiguration.self].server.daemon.lower(to: plan.http[0].connections)
        web.lower(to: plan.http[1].connections)
        ops.lower(to: plan.http[2].connections)
        apps.server.lower(to: plan.http[3].connections)
        rpc.maxConnections = plan.grpc
        // One address must not be able to use all of them.
        rpc.maxConnectionsPerAddress = min(rpc.maxConnectionsPerAddress, max(1, plan.grpc / 2))
        return plan
    }
}

extension ConnectionPlan {
    /// Logs that connections are fewer than configured.
    func reportLowered(descriptors: Int, to log: Logger) {
        // If one address and the HTTP/1.1 listeners still have their full limits, few clients will notice.
        let isShort = grpc < 2 * RPCLimits().maxConnectionsPerAddress
        log.write(
            "the connection limits were lowered",
            [
                "descriptors": "\(descriptors)", "each_grpc_listener": "\(grpc)",
                "object_store": "\(http[0].connections)", "web": "\(http[1].connections)",
                "hint": "raise LimitNOFILE of the service, or lower rpc.max_connections",
            ], level: isShort ? .warning : .info)
    }
}
