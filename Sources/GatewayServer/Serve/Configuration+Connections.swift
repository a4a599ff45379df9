import Basics
import Capability
import Configuration
import HTTPServer
import RPC
import Settings
import StoreServer

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
