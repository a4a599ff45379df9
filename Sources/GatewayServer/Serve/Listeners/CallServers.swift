import Accounts
import Basics
import Capability
import Catalog
import Configuration
import GatewayAPI
import HTTPServer
import HTTPTypes
import Observability
import Proto
import RPC
import StoreServer
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
        let appJSON =
            configuration.apps.enabled.isEmpty ? json : JSONMapping(schema: try Schema(configuration.apps.files))
        var servers: [ListenerName: RPCServer] = [:]
        var served: [ListenerMetrics.Listener] = []
        for name in ListenerName.grpc + [.web, .apps] where configuration.listeners[name] != nil {
            let isForApps = name == .apps
            let reflects = configuration.reflection ?? configuration.address(name).isLoopback
            var authenticator = modules.core.accounts.authenticator
            authenticator.trustsCertificates =
                name == .internalStorage && configuration[InternalStorageConfiguration.self].clientAuthorities != nil
            var limits = configuration.rpcLimits(of: name)
            limits.spoolDirectory = spoolDirectory
            let router =
                isForApps
                ? modules.appRouter(configuration.apps.routes)
                : Self.router(modules.router(name), state, reflects: reflects)
            let server = RPCServer(
                router: router,
                interceptors: [
                    AccessLog(listener: name.rawValue, log: log), configuration.trustedProxies, authenticator,
                ],
                limits: limits, errors: isForApps ? .bare : .gateway,
                web: isForApps
                    ? WebProtocols(json: appJSON, crossOrigin: configuration.apps.crossOrigin)
                    : WebProtocols(json: json, crossOrigin: configuration.crossOrigin), log: Logger(log))
            servers[name] = server
            served.append(
                ListenerMetrics.Listener(
                    name: name.rawValue, metrics: server.metrics,
                    daemon: configuration.daemon(name).map { ServerMetrics(connections: $0.metrics) },
                    methods: router.methods))
        }
        let others = [
            (ListenerName.objectStore, configuration[StoreConfiguration.self].server.daemon), (.ops, configuration.ops),
        ]
        for (name, daemon) in others where configuration.listeners[name] != nil {
            served.append(
                ListenerMetrics.Listener(
                    name: name.rawValue, metrics: ServerMetrics(connections: daemon.metrics)))
        }
        self.servers = servers
        metrics = ListenerMetrics(listeners: served, shared: modules.core.environment.limits)
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

extension Configuration {
    /// Returns the HTTP/1.1 settings of a listener for calls; `nil` = it is one for gRPC.
    fileprivate func daemon(_ name: ListenerName) -> HTTPServerConfiguration? {
        switch name {
        case .web: web
        case .apps: apps.server
        default: nil
        }
    }
}
