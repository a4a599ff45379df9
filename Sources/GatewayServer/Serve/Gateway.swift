import Basics
import Configuration
import Foundation
import HTTPTypes
import Observability
import RPC

/// A gateway: its services, and what can be asked of them while they work.
final class Gateway: Sendable {
    private let services: GatewayServices
    private let group: ServiceGroup
    private let state = ServingState()
    private let certificates: GatewayCertificates
    /// `nil` where the listeners have the connections that were asked for.
    private let loweredConnections: ConnectionPlan?

    private let configuration: Configuration
    /// What holds now, by key.
    private let effective: Lock<[String: String]>

    private let processLog: ProcessLog
    private let log: Logger

    init(_ configuration: Configuration, dataDirectory: String, log: ProcessLog) throws {
        processLog = log
        self.log = Logger(log)
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        var configuration = configuration
        loweredConnections = try configuration.fitConnections(
            descriptors: ProcessMetrics.maxDescriptors, loops: processors)
        self.configuration = configuration
        effective = Lock(configuration.values)
        certificates = try GatewayCertificates(configuration)
        services = GatewayServices(
            configuration, dataDirectory: dataDirectory, loops: processors, state: state, certificates: certificates,
            log: log)
        group = ServiceGroup("gateway", services.all)
    }

    /// Makes the data directory where it is missing, opens what is in it, and listens. Where that fails, nothing is left open.
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

    /// Serves until `body` returns; then lets what is under way end, takes nothing new, and closes everything.
    ///
    /// - Throws: where a service ended by itself; `body` is cancelled then.
    func serve(until body: @escaping @Sendable () async -> Void) async throws(ServiceFailure) {
        try await group.run(body)
    }

    /// What listens where, in the order of `ListenerName`; to be asked while the gateway serves.
    var listeners: [(name: String, address: String)] {
        let addresses = addresses
        return ListenerName.allCases.compactMap { name in
            addresses[name].map { (name.rawValue, $0.description) }
        }
    }

    private var addresses: [ListenerName: PeerAddress] {
        var addresses = services.grpcListeners.mapValues(\.value.address)
        let (web, ops, store) = (services.web.value, services.ops.value, services.modules.value.storeServer)
        addresses[.web] = PeerAddress(host: web.host, port: Int(web.port))
        addresses[.ops] = PeerAddress(host: ops.host, port: Int(ops.port))
        addresses[.objectStore] = PeerAddress(host: store.host, port: Int(store.port))
        return addresses
    }

    /// Reads again what can be: the certificates, which connections that are there do without, and the keys that
    /// ``Configuration/takesEffect(_:)`` names. Where something is wrong, all stays as it was.
    func reload(_ read: () throws -> Configuration) {
        do {
            let fresh = try read()
            try certificates.reload()
            configuration.take(fresh)
            processLog.configure(fresh.log)
            let changed = effective.withLock { effective in
                // What is said no more was changed, too.
                let keys = Set(effective.keys).union(fresh.values.keys)
                let changed = keys.filter { effective[$0] != fresh.values[$0] }.sorted()
                for key in changed where Configuration.takesEffect(key) { effective[key] = fresh.values[key] }
                return changed
            }
            let list = { (keys: [String]) in keys.isEmpty ? "none" : keys.joined(separator: ", ") }
            log.write(
                "reloaded",
                [
                    "certificates": certificates.isEmpty ? "none" : "read",
                    "changed": list(changed.filter(Configuration.takesEffect)),
                    "needs_restart": list(changed.filter { !Configuration.takesEffect($0) }),
                ])
        } catch {
            log.write(
                "the reload failed", ["error": "\(error)", "consequence": "the current configuration stays in use"],
                level: .error)
        }
    }

    /// Returns when every event loop has answered: never, while one is stuck.
    ///
    /// - Returns: whether the gateway can go on: not once its database takes no more writes, which a restart recovers.
    func answer() async -> Bool {
        for loop in services.loops.current ?? [] { await loop.answer() }
        return state.isServing
    }
}
