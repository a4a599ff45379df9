import Basics
import Configuration
import GatewayAPI
import Observability
import Proto
import RPC
import Wire

/// The servers of calls, one for each listener that accepts calls.
struct CallServers: Sendable {
    /// The counters of all listeners, including those without calls.
    let metrics: ListenerMetrics
    private let servers: [ListenerName: RPCServer]

    /// - Parameter spoolDirectory: where long forms wait while they arrive.
    init(
        _ configuration: Configuration, _ modules: GatewayModules, spoolDirectory: String, state: ServingState,
        log: ProcessLog
    ) throws {
        let json = JSONMapping(schema: try Schema(ProtoFiles.all))
        var servers: [ListenerName: RPCServer] = [:]
        var served: [ListenerMetrics.Listener] = []
        for name in ListenerName.grpc.filter({ configuration.listeners[$0] != nil }) + [.web] {
            let reflects = configuration.reflection ?? configuration.address(name).isLoopback
            var authenticator = modules.accounts.authenticator
            authenticator.trustsCertificates = name == .internalStorage && configuration.internalAuthorities != nil
            var limits = configuration.rpcLimits(of: name)
            limits.spoolDirectory = spoolDirectory
            let router = Self.router(modules.router(name), state, reflects: reflects)
            let server = RPCServer(
                router: router,
                interceptors: [
                    AccessLog(listener: name.rawValue, log: log), configuration.trustedProxies, authenticator,
                ],
                limits: limits, errors: .gateway,
                web: WebProtocols(json: json, crossOrigin: configuration.crossOrigin), log: Logger(log))
            servers[name] = server
            served.append(
                ListenerMetrics.Listener(
                    name: name.rawValue, metrics: server.metrics,
                    daemon: name == .web ? ServerMetrics(connections: configuration.web.metrics) : nil,
                    methods: router.methods))
        }
        served.append(
            ListenerMetrics.Listener(
                name: ListenerName.objectStore.rawValue,
                metrics: ServerMetrics(connections: configuration.objectStore.daemon.metrics)))
        served.append(
            ListenerMetrics.Listener(
                name: ListenerName.ops.rawValue, metrics: ServerMetrics(connections: configuration.ops.metrics)))
        self.servers = servers
        metrics = ListenerMetrics(listeners: served)
    }

    /// The server of an enabled listener that accepts calls.
    subscript(_ name: ListenerName) -> RPCServer {
        guard let server = servers[name] else { preconditionFailure("the listener \(name.rawValue) takes no calls") }
        return server
    }

    /// Returns the router of a listener: `services`, the health service, and reflection if `reflects` is true.
    private static func router(_ services: Router, _ state: ServingState, reflects: Bool) -> Router {
        var router = services
        HealthService(services: services.services, state: state).register(in: &router)
        router.apply(MethodRules(waits: true), to: HealthMethods.watch)
        router.add(routes: ProtoFiles.routes)
        if reflects {
            let names = router.services + [ServerReflectionMethods.service, V1AlphaServerReflectionMethods.service]
            let reflection = ReflectionService(services: names, files: ProtoFiles.all)
            reflection.register(in: &router)
            ReflectionServiceV1Alpha(reflection).register(in: &router)
            // Responses repeat the request, which is a name.
            let rules = MethodRules(waits: true, maximumRequest: 4096)
            router.apply(rules, to: ServerReflectionMethods.serverReflectionInfo)
            router.apply(rules, to: V1AlphaServerReflectionMethods.serverReflectionInfo)
        }
        return router
    }
}
