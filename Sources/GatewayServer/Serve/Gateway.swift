import Backup
import Foundation
import Network
import Proto
import RPC
import Wire

/// A running gateway: its rooms, and the listeners where they can be reached.
final class Gateway: Sendable {
    /// How long calls and requests that are under way when the gateway is told to end may take, in seconds.
    private static let drainLimit = 20

    /// What listens where, in the order of `ListenerName`.
    let listeners: [(name: String, address: String)]
    private let directory: DataDirectory
    private let rooms: Rooms
    private let state = ServingState()
    private let loops: [EventLoop]
    private let rpcListeners: [RPCListener]
    private let certificates: TLSCertificates?
    private let web: HTTPDaemon
    private let ops: HTTPDaemon
    private let housekeeping: Task<Void, Never>
    private let scrubbing: Task<Void, Never>

    /// Makes the data directory where it is missing, opens what is in it, and listens.
    init(_ configuration: Configuration, dataDirectory: String) async throws {
        directory = try DataDirectory.forServing(dataDirectory)
        certificates = try configuration.tls.map { try TLSCertificates($0.files) }
        let rooms = try await Rooms(configuration, directory: directory, state: state, certificates: certificates)
        self.rooms = rooms
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        loops = (0..<processors).map { EventLoop(name: "loop-\($0)") }
        let json = JSONMapping(schema: try Schema(ProtoFiles.all))
        var addresses: [ListenerName: PeerAddress] = [:]
        var rpcListeners: [RPCListener] = []
        var metrics: [(listener: String, metrics: ServerMetrics)] = []
        let state = state
        func server(_ name: ListenerName) -> RPCServer {
            let reflects = configuration.reflection ?? configuration.address(name).isLoopback
            let server = RPCServer(
                router: Self.router(rooms.router(name), state, reflects: reflects),
                interceptors: [configuration.trustedProxies, FailureLog(), rooms.accounts.authenticator],
                limits: configuration.rpc, json: json, crossOrigin: configuration.crossOrigin)
            metrics.append((name.rawValue, server.metrics))
            return server
        }
        for name in ListenerName.grpc {
            let listener = try RPCListener(
                configuration.address(name), server: server(name), loops: loops,
                certificates: configuration.isSecure(name) ? certificates : nil)
            addresses[name] = listener.address
            rpcListeners.append(listener)
        }
        self.rpcListeners = rpcListeners
        let webAddress = configuration.address(.web)
        var webDaemon = configuration.web
        webDaemon.certificates = configuration.isSecure(.web) ? certificates : nil
        web = try HTTPDaemon(
            host: webAddress.host, port: UInt16(webAddress.port), configuration: webDaemon,
            handler: WebHandler(
                accounts: rooms.accounts, calls: RPCRequestHandler(server: server(.web), loops: loops)))
        addresses[.web] = PeerAddress(host: web.host, port: Int(web.port))
        metrics.append((ListenerName.objectStore.rawValue, configuration.objectStore.daemon.metrics))
        let sweeps = SweepMetrics()
        let opsAddress = configuration.address(.ops)
        ops = try HTTPDaemon(
            host: opsAddress.host, port: UInt16(opsAddress.port),
            handler: OpsHandler(state: state, metrics: metrics, sweeps: sweeps, scrub: rooms.catalog.scrubMetrics))
        addresses[.ops] = PeerAddress(host: ops.host, port: Int(ops.port))
        addresses[.objectStore] = PeerAddress(host: rooms.storeServer.host, port: Int(rooms.storeServer.port))
        listeners = ListenerName.allCases.compactMap { name in
            addresses[name].map { (name.rawValue, $0.description) }
        }
        for name in ListenerName.allCases
        where !configuration.address(name).isLoopback && !configuration.isSecure(name) {
            let address = addresses[name] ?? configuration.address(name)
            Log.write(
                "a listener without TLS is reachable from other machines",
                ["listener": name.rawValue, "address": address.description])
        }
        scrubbing = Task {
            // Beside a database of another age an object's row may be wrong, and its bytes right.
            if !rooms.store.reconciliation.isForeign { await rooms.catalog.scrub() }
        }
        housekeeping = Task {
            await Housekeeping(
                accounts: rooms.accounts, uploads: rooms.uploads, catalog: rooms.catalog, store: rooms.store,
                metrics: sweeps
            ).run()
        }
    }

    /// What a listener serves: `services`, health beside them, and reflection where `reflects`.
    private static func router(_ services: Router, _ state: ServingState, reflects: Bool) -> Router {
        var router = services
        HealthService(services: services.services, state: state).register(in: &router)
        if reflects {
            let names = router.services + [ServerReflectionMethods.service, V1AlphaServerReflectionMethods.service]
            let reflection = ReflectionService(services: names, files: ProtoFiles.all)
            reflection.register(in: &router)
            ReflectionServiceV1Alpha(reflection).register(in: &router)
        }
        return router
    }

    /// Reads again what can be: the certificates. Connections that are there keep theirs.
    func reload() {
        do {
            try certificates?.reload()
            Log.write("reloaded", ["certificates": certificates == nil ? "none" : "read"])
        } catch {
            Log.write("reload failed", ["error": "\(error)", "consequence": "the certificate before stays in use"])
        }
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
        await withTaskGroup(of: Void.self) { group in
            for listener in rpcListeners {
                group.addTask { await listener.stop(limit: .seconds(Self.drainLimit)) }
            }
            group.addTask { [rooms] in await Self.blocking { rooms.storeServer.stop(drainingFor: Self.drainLimit) } }
            group.addTask { [web] in await Self.blocking { web.stop(drainingFor: Self.drainLimit) } }
        }
        await housekeeping.value
        await scrubbing.value
        ops.stop(drainingFor: 1)
        rooms.close()
        for loop in loops { loop.stop() }
    }
}
