import Basics
import Configuration
import RPC

extension Configuration {
    /// Lowers how many connections the listeners take to what the process's limit of descriptors allows.
    ///
    /// - Parameters:
    ///   - descriptors: what the process may have open.
    ///   - loops: event loops.
    /// - Returns: how many there are, where they are fewer than was asked for.
    mutating func fitConnections(descriptors: Int, loops: Int) throws(ConfigurationError) -> ConnectionPlan? {
        let plan = try ConnectionPlan(
            descriptors: descriptors, loops: loops,
            http: [
                // A socket, the file of a body, and that of an object.
                ConnectionPlan.HTTPListener(connections: Int(objectStore.daemon.maximumConnections), descriptors: 3),
                // A socket, and what wakes its thread.
                ConnectionPlan.HTTPListener(connections: Int(web.maximumConnections), descriptors: 2),
                ConnectionPlan.HTTPListener(connections: Int(ops.maximumConnections), descriptors: 1),
            ],
            grpcListeners: ListenerName.grpc.count { listeners[$0] != nil }, grpc: rpc.maxConnections)
        guard plan.isLowered else { return nil }
        objectStore.daemon.lower(to: plan.http[0].connections)
        web.lower(to: plan.http[1].connections)
        ops.lower(to: plan.http[2].connections)
        rpc.maxConnections = plan.grpc
        // One address does not get all of them.
        rpc.maxConnectionsPerAddress = min(rpc.maxConnectionsPerAddress, max(1, plan.grpc / 2))
        return plan
    }
}

extension ConnectionPlan {
    /// Says in the log that connections are fewer than was asked for.
    func reportLowered(descriptors: Int, to log: Logger) {
        // Where one address still has its connections, and the HTTP/1.1 listeners have theirs, few will ever notice.
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
