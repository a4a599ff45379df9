import Backup
import Basics
import Configuration
import Console
import DeviceClient
import EventLoops
import Foundation
import GatewayAPI
import HTTPCalls
import HTTPServer
import HTTPTypes
import Observability
import Proto
import RPC
import Sockets
import Wire

/// A running gateway: its modules, and the listeners where they can be reached.
final class Gateway: Sendable {
    /// How long calls and requests that are under way when the gateway is told to end may take, in seconds.
    private static let drainLimit = 20

    /// What listens where, in the order of `ListenerName`.
    let listeners: [(name: String, address: String)]
    private let directory: DataDirectory
    private let modules: GatewayModules
    private let state = ServingState()
    private let loops: [EventLoop]
    private let rpcListeners: [RPCListener]
    private let certificates: GatewayCertificates
    private let web: HTTPDaemon
    private let ops: HTTPDaemon
    private let reconciling: Task<Void, Never>
    private let housekeeping: Task<Void, Never>
    private let scrubbing: Task<Void, Never>
    private let delivery: Task<Void, Never>
    private let copying: Task<Void, Never>

    private let configuration: Configuration
    /// What holds now, by key.
    private let effective: Lock<[String: String]>

    /// Makes the data directory where it is missing, opens what is in it, and listens.
    init(_ configuration: Configuration, dataDirectory: String) async throws {
        directory = try DataDirectory.forServing(dataDirectory)
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        var configuration = configuration
        try configuration.fitConnections(descriptors: ProcessMetrics.maxDescriptors, loops: processors)
        self.configuration = configuration
        effective = Lock(configuration.values)
        certificates = try GatewayCertificates(configuration)
        let modules = try await GatewayModules(
            configuration, directory: directory, state: state, certificates: certificates)
        self.modules = modules
        loops = (0..<processors).map { EventLoop(name: "loop-\($0)") }
        let json = JSONMapping(schema: try Schema(ProtoFiles.all))
        var addresses: [ListenerName: PeerAddress] = [:]
        var rpcListeners: [RPCListener] = []
        var served: [ListenerMetrics.Listener] = []
        let state = state
        func server(_ name: ListenerName) -> RPCServer {
            let reflects = configuration.reflection ?? configuration.address(name).isLoopback
            var authenticator = modules.accounts.authenticator
            authenticator.trustsCertificates = name == .internalStorage && configuration.internalAuthorities != nil
            let router = Self.router(modules.router(name), state, reflects: reflects)
            let server = RPCServer(
                router: router,
                interceptors: [AccessLog(listener: name.rawValue), configuration.trustedProxies, authenticator],
                limits: configuration.rpcLimits(of: name), errors: .gateway, json: json,
                crossOrigin: configuration.crossOrigin)
            served.append(
                ListenerMetrics.Listener(
                    name: name.rawValue, metrics: server.metrics,
                    daemon: name == .web ? ServerMetrics(connections: configuration.web.metrics) : nil,
                    methods: router.methods))
            return server
        }
        let shortage = DescriptorShortage {
            Log.write(
                "out of file descriptors",
                ["consequence": "connections wait", "remedy": "raise LimitNOFILE of the service"], level: .error)
        }
        for name in ListenerName.grpc where configuration.listeners[name] != nil {
            let listener = try RPCListener(
                configuration.address(name), server: server(name), loops: loops, certificates: certificates[name],
                shortage: shortage)
            addresses[name] = listener.address
            rpcListeners.append(listener)
        }
        self.rpcListeners = rpcListeners
        let webAddress = configuration.address(.web)
        var webDaemon = configuration.web
        webDaemon.certificates = certificates[.web]
        let calls = RPCRequestHandler(server: server(.web), loops: loops)
        let console = configuration.console.map { settings in
            Console(
                calls: calls, deviceEndpoints: Endpoints(configuration, addresses), clock: SystemClock(),
                configuration: settings)
        }
        webDaemon.observers = [HTTPAccessLog(listener: ListenerName.web.rawValue)]
        web = try HTTPDaemon(
            host: webAddress.host, port: UInt16(webAddress.port), configuration: webDaemon,
            handler: WebHandler(accounts: modules.accounts, calls: calls, console: console))
        addresses[.web] = PeerAddress(host: web.host, port: Int(web.port))
        served.append(
            ListenerMetrics.Listener(
                name: ListenerName.objectStore.rawValue,
                metrics: ServerMetrics(connections: configuration.objectStore.daemon.metrics)))
        served.append(
            ListenerMetrics.Listener(
                name: ListenerName.ops.rawValue, metrics: ServerMetrics(connections: configuration.ops.metrics)))
        let sweeps = SweepMetrics()
        let opsAddress = configuration.address(.ops)
        var opsDaemon = configuration.ops
        // Probes and scrapes would drown everything else.
        opsDaemon.observers = [HTTPAccessLog(listener: ListenerName.ops.rawValue, successLevel: .debug)]
        ops = try HTTPDaemon(
            host: opsAddress.host, port: UInt16(opsAddress.port), configuration: opsDaemon,
            handler: OpsHandler(
                state: state,
                metrics: [
                    GatewayMetrics(
                        state: state, database: modules.database, store: modules.store,
                        certificateExpiry: { [certificates] in certificates.expiry }),
                    ListenerMetrics(listeners: served), modules.storeRequests, sweeps, modules.catalog.scrubMetrics,
                    modules.events.metrics, modules.copies.metrics, modules.accounts.auditPressure,
                    ClockMetrics(clockGuard: modules.clock.clockGuard), ProcessMetrics(),
                ]))
        addresses[.ops] = PeerAddress(host: ops.host, port: Int(ops.port))
        addresses[.objectStore] = PeerAddress(host: modules.storeServer.host, port: Int(modules.storeServer.port))
        listeners = ListenerName.allCases.compactMap { name in
            addresses[name].map { (name.rawValue, $0.description) }
        }
        for (name, address) in configuration.listeners
        where !address.isLoopback && !configuration.isSecure(name) {
            Log.write(
                "a listener without TLS is reachable from other machines",
                ["listener": name.rawValue, "address": "\(addresses[name] ?? address)"], level: .warning)
        }
        scrubbing = Task {
            await modules.store.finishReconciliation()
            // Beside a database of another age an object's row may be wrong, and its bytes right.
            if !modules.store.isForeign { await modules.catalog.scrub() }
        }
        delivery = Task { await modules.events.run() }
        copying = Task { await modules.copies.run() }
        reconciling = Task { await ReconciliationReport(store: modules.store).run() }
        housekeeping = Task {
            await Housekeeping(
                database: modules.database, clock: modules.clock, accounts: modules.accounts, uploads: modules.uploads,
                catalog: modules.catalog, events: modules.events, copies: modules.copies, store: modules.store,
                directUploadIdle: configuration.uploads.sessionTotal, metrics: sweeps
            ).run()
        }
    }

    /// What a listener serves: `services`, health beside them, and reflection where `reflects`.
    private static func router(_ services: Router, _ state: ServingState, reflects: Bool) -> Router {
        var router = services
        HealthService(services: services.services, state: state).register(in: &router)
        router.apply(MethodRules(waits: true), to: HealthMethods.watch)
        if reflects {
            let names = router.services + [ServerReflectionMethods.service, V1AlphaServerReflectionMethods.service]
            let reflection = ReflectionService(services: names, files: ProtoFiles.all)
            reflection.register(in: &router)
            ReflectionServiceV1Alpha(reflection).register(in: &router)
            // Answers repeat the request, which is a name.
            let rules = MethodRules(waits: true, maximumRequest: 4096)
            router.apply(rules, to: ServerReflectionMethods.serverReflectionInfo)
            router.apply(rules, to: V1AlphaServerReflectionMethods.serverReflectionInfo)
        }
        return router
    }

    /// Reads again what can be: the certificates, which connections that are there do without, and the keys that
    /// ``Configuration/takesEffect(_:)`` names. Where something is wrong, all stays as it was.
    func reload(_ read: () throws -> Configuration) {
        do {
            let fresh = try read()
            try certificates.reload()
            configuration.take(fresh)
            let changed = effective.withLock { effective in
                // What is said no more was changed, too.
                let keys = Set(effective.keys).union(fresh.values.keys)
                let changed = keys.filter { effective[$0] != fresh.values[$0] }.sorted()
                for key in changed where Configuration.takesEffect(key) { effective[key] = fresh.values[key] }
                return changed
            }
            let list = { (keys: [String]) in keys.isEmpty ? "none" : keys.joined(separator: ", ") }
            Log.write(
                "reloaded",
                [
                    "certificates": certificates.isEmpty ? "none" : "read",
                    "changed": list(changed.filter(Configuration.takesEffect)),
                    "needs_restart": list(changed.filter { !Configuration.takesEffect($0) }),
                ])
        } catch {
            Log.write(
                "reload failed", ["error": "\(error)", "consequence": "everything stays as it was"], level: .error)
        }
    }

    /// Returns when every event loop has answered: never, while one is stuck.
    ///
    /// - Returns: whether the gateway can go on: not once its database takes no more writes, which a restart recovers.
    func answer() async -> Bool {
        for loop in loops { await loop.answer() }
        return state.isServing
    }

    /// On a thread of its own, so that the listeners drain meanwhile.
    private static func blocking(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    /// Lets what is under way end, takes nothing new, and closes everything.
    func stop() async {
        state.end()
        housekeeping.cancel()
        scrubbing.cancel()
        delivery.cancel()
        copying.cancel()
        modules.store.stopBackgroundWork()
        await withTaskGroup(of: Void.self) { group in
            for listener in rpcListeners {
                group.addTask { await listener.stop(limit: .seconds(Self.drainLimit)) }
            }
            group.addTask { [store = modules.storeServer] in
                await Self.blocking { store.stop(drainingFor: Self.drainLimit) }
            }
            group.addTask { [web] in await Self.blocking { web.stop(drainingFor: Self.drainLimit) } }
        }
        await reconciling.value
        await housekeeping.value
        await scrubbing.value
        await delivery.value
        await copying.value
        ops.stop(drainingFor: 1)
        modules.close()
        for loop in loops { loop.stop() }
    }
}

extension Endpoints {
    /// Where the listeners that devices speak to are.
    fileprivate init(_ configuration: Configuration, _ addresses: [ListenerName: PeerAddress]) {
        func endpoint(_ name: ListenerName) -> Endpoint {
            let address = addresses[name] ?? configuration.address(name)
            return Endpoint(
                scheme: configuration.isSecure(name) ? .https : .http, host: address.host, port: address.port)
        }
        self.init()
        auth = endpoint(.auth)
        gateway = endpoint(.gateway)
        deviceInit = endpoint(.deviceInit)
    }
}
