import Basics
import Capability
import Configuration
import EventLoops
import FoundationEssentials
import HTTPServer
import HTTPTypes
import Observability
import RPC
import StoreServer
import Synchronization

/// A gateway: its services, and the operations on it while it runs.
final class Gateway: Sendable {
    private let services: GatewayServices
    private let group: ServiceGroup
    private let process: ProcessState
    let certificates: GatewayCertificates
    /// The lowered limits of connections; `nil` if the limits are as configured.
    private let loweredConnections: ConnectionPlan?

    private let configuration: Configuration
    /// The settings in effect, by key.
    private let effective: Lock<[String: String]>

    private let processLog: ProcessLog
    private let log: Logger

    init(_ configuration: Configuration, dataDirectory: String, log: ProcessLog) throws {
        processLog = log
        process = ProcessState(log)
        self.log = Logger(log)
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        var configuration = configuration
        loweredConnections = try configuration.fitConnections(
            descriptors: ProcessMetrics.maxDescriptors, loops: processors)
        self.configuration = configuration
        effective = Lock(configuration.values)
        certificates = try GatewayCertificates(configuration)
        services = GatewayServices(
            configuration, dataDirectory: dataDirectory, loops: processors, process: process,
            certificates: certificates)
        group = ServiceGroup("gateway", services.all)
    }

    /// Opens the data directory, creates it if it does not exist, and starts the listeners. After a failure nothing stays open.
    func start() async throws {
        try await group.start()
        loweredConnections?.reportLowered(descriptors: ProcessMetrics.maxDescriptors, to: log)
        let addresses = addresses
        for (name, address) in configuration.listeners
        where !address.isLoopback && !configuration.isSecure(name) {
            log.write(
                "a listener without TLS is reachable from other machines",
                ["listener": name.rawValue, "address": "\(addresses[name] ?? address)"], level: .warning)
        }
    }

    /// Serves until `body` returns; then stops accepting, lets calls in progress finish, and closes everything.
    ///
    /// - Throws: if a service ended because of an error; `body` is cancelled then.
    func serve(until body: @escaping @Sendable () async -> Void) async throws(ServiceFailure) {
        try await group.run(body)
    }

    /// Returns when the data have to be replaced at a restart.
    func restartRequest() async { await process.restart.wait(after: 0) }

    /// Whether the process should be started again after its end.
    var isRestartRequested: Bool { process.restart.count > 0 }

    /// The addresses of the listeners, in the order of `ListenerName`; available while the gateway serves.
    var listeners: [(name: String, address: String)] {
        let addresses = addresses
        return ListenerName.allCases.compactMap { name in
            addresses[name].map { (name.rawValue, $0.description) }
        }
    }

    var addresses: [ListenerName: PeerAddress] {
        var addresses = services.grpcListeners.mapValues(\.value.address)
        for (name, daemon) in services.httpListeners.mapValues(\.value) {
            addresses[name] = PeerAddress(host: daemon.host, port: Int(daemon.port))
        }
        addresses[.objectStore] = services.modules.value.core.storeServer.address
        return addresses
    }

    /// Reloads the certificates, for new connections, and the keys for which ``Configuration/takesEffect(_:)`` is true. After an
    /// error nothing changes.
    func reload(_ read: () throws -> Configuration) {
        do {
            let fresh = try read()
            try certificates.reload()
            configuration.take(fresh)
            processLog.configure(fresh.log)
            let changed = effective.withLock { effective in
                // Keys that are no longer set have changed, too.
                let keys = Set(effective.keys).union(fresh.values.keys)
                let changed = keys.filter { effective[$0] != fresh.values[$0] }.sorted()
                for key in changed where configuration.takesEffect(key) { effective[key] = fresh.values[key] }
                return changed
            }
            let list = { (keys: [String]) in keys.isEmpty ? "none" : keys.joined(separator: ", ") }
            log.write(
                "reloaded",
                [
                    "certificates": certificates.isEmpty ? "none" : "read",
                    "changed": list(changed.filter(configuration.takesEffect)),
                    "needs_restart": list(changed.filter { !configuration.takesEffect($0) }),
                ])
        } catch {
            log.write(
                "the reload failed", ["error": "\(error)", "consequence": "the current configuration stays in use"],
                level: .error)
        }
    }

    /// Returns when every event loop has responded; does not return while one is blocked.
    ///
    /// - Returns: whether the gateway is working: false once its database accepts no writes, which a restart recovers.
    func probe() async -> Bool {
        for loop in services.loops.current ?? [] { await loop.probe() }
        return process.serving.isServing
    }
}
