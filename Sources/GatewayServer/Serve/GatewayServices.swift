import Backup
import Basics
import Capability
import Configuration
import Console
import DeviceClient
import EventLoops
import Foundation
import HTTPServer
import HTTPTypes
import Observability
import RPC
import Sockets
import ThreadCalls

/// The services of a gateway.
struct GatewayServices: Sendable {
    /// The time that calls and requests in progress get when the gateway shuts down.
    private static let drainLimit = Duration.seconds(20)

    let directory: ValueService<DataDirectory>
    let loops: ValueService<[EventLoop]>
    let modules: ValueService<GatewayModules>
    let grpcListeners: [ListenerName: ValueService<RPCListener>]
    /// The listeners `web`, `apps` and `ops`, those that are enabled.
    let httpListeners: [ListenerName: ValueService<HTTPDaemon>]
    /// All services, in the order of their start.
    let all: [any Service]

    /// - Parameters:
    ///   - configuration: its limits of connections fit the process's descriptors.
    ///   - loops: the number of event loops.
    init(
        _ configuration: Configuration, dataDirectory: String, loops count: Int, process: ProcessState,
        certificates: GatewayCertificates, log: ProcessLog
    ) {
        let directory = ValueService("data directory") {
            let directory = try DataDirectory.forServing(dataDirectory)
            try directory.restoreIfRequested(
                migrations: GatewayModules.migrations, now: SystemClock().now(), log: Logger(log))
            return directory
        } close: {
            $0.release()
        }
        let loops = ValueService("event loops") {
            (0..<count).map { EventLoop(name: "loop-\($0)") }
        } close: {
            for loop in $0 { loop.stop() }
        }
        let modules = ValueService("modules") {
            try await GatewayModules.open(
                configuration, directory: directory.value, process: process, certificates: certificates,
                log: log)
        } close: {
            $0.close()
        }
        let servers = ValueService("call servers") {
            try CallServers(
                configuration, modules.value, spoolDirectory: dataDirectory, state: process.serving, log: log)
        }
        let readiness = Readiness(process.serving)
        let opsHandler = { @Sendable in
            let modules = modules.value
            let own: [any MetricSource] = [
                GatewayMetrics(
                    log: log, state: process.serving, database: modules.core.database,
                    store: modules.core.store.objects,
                    listeners: configuration.listeners.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                        ($0.key.rawValue, "\($0.value)", configuration.isSecure($0.key))
                    },
                    certificateExpiry: { certificates.expiry }),
                servers.value.metrics, modules.housekeeping.metrics, ProcessMetrics(),
            ]
            return OpsHandler(readiness: readiness, metrics: own + modules.capabilities.flatMap(\.metrics))
        }
        let ops = configuration.listeners[.ops].map { Self.ops($0, configuration, log, handler: opsHandler) }
        // One for all listeners: they run out at the same time, and the log reports it once.
        let shortage = DescriptorShortage {
            Logger(log).write(
                "the process has no free file descriptors",
                ["consequence": "new connections have to wait", "hint": "raise LimitNOFILE of the service"],
                level: .error)
        }
        let grpc = ListenerName.grpc.filter { configuration.listeners[$0] != nil }.map { name in
            (name, Self.listener(name, configuration, servers, loops, certificates, shortage))
        }
        let grpcListeners = Dictionary(uniqueKeysWithValues: grpc)
        let web = Self.http(.web, configuration.web, configuration, certificates, log) {
            let modules = modules.value
            let server = servers.value[.web]
            let calls = RPCRequestHandler(server: server, loops: loops.value)
            let local = LocalCalls(server: server, loops: loops.value)
            let addresses = grpcListeners.mapValues(\.value.address)
            let console = modules.consoleSessions.map { sessions in
                Console(
                    calls: GatewayHandlers(calls: calls, local: local, store: modules.core.storeServer.handler),
                    sessions: sessions, deviceEndpoints: Endpoints(configuration, addresses), clock: SystemClock(),
                    log: Logger(log))
            }
            return WebHandler(
                accounts: modules.core.accounts, calls: calls,
                description: APIDescription(server, access: modules.core.accounts.access), console: console,
                directory: ListenerDirectory(configuration, addresses, certificates: certificates))
        }
        let apps = Self.http(.apps, configuration.apps.server, configuration, certificates, log) {
            let server = servers.value[.apps]
            return AppsHandler(
                calls: RPCRequestHandler(server: server, loops: loops.value, passesHost: true),
                description: APIDescription(
                    server, access: modules.value.core.accounts.access, about: .apps,
                    comments: configuration.apps.comments,
                    rules: [:]),
                publicKeys: configuration.apps.issuesAccessTokens
                    ? PublicKeys(accounts: modules.value.core.accounts) : nil)
        }
        // Services that end with their calls and requests are stopped together, since each may take long.
        var work = grpc.map { $1 as any Service }
        for listener in [web, apps] {
            if let listener { work.append(listener) }
        }
        work.append(StoreDrain(modules: modules, limit: Self.drainLimit))
        work.append(ReadDrain(modules: modules))
        work.append(BackgroundWorkers(modules))
        (self.directory, self.loops, self.modules) = (directory, loops, modules)
        self.grpcListeners = grpcListeners
        httpListeners = [.web: web, .apps: apps, .ops: ops].compactMapValues { $0 }
        var all: [any Service] = [directory, loops, modules, servers]
        // The ops listener answers probes and scrapes until everything else has ended.
        if let ops { all.append(ops) }
        all.append(ServiceGroup("work", work, stopOrder: .together))
        all.append(readiness)
        self.all = all
    }

    private static func listener(
        _ name: ListenerName, _ configuration: Configuration, _ servers: ValueService<CallServers>,
        _ loops: ValueService<[EventLoop]>, _ certificates: GatewayCertificates, _ shortage: DescriptorShortage
    ) -> ValueService<RPCListener> {
        ValueService("\(name.rawValue) listener") {
            try RPCListener(
                configuration.address(name), server: servers.value[name], loops: loops.value,
                certificates: certificates[name], shortage: shortage)
        } close: {
            await $0.stop(limit: drainLimit)
        }
    }

    /// Returns a listener for calls over HTTP/1.1; `nil` if it is disabled.
    private static func http(
        _ name: ListenerName, _ limits: HTTPServerConfiguration, _ configuration: Configuration,
        _ certificates: GatewayCertificates, _ log: ProcessLog,
        handler: @escaping @Sendable () -> any HTTPRequestHandler
    ) -> ValueService<HTTPDaemon>? {
        configuration.listeners[name].map { address in
            ValueService("\(name.rawValue) listener") {
                var daemon = limits
                daemon.certificates = certificates[name]
                daemon.observers = [HTTPAccessLog(listener: name.rawValue, log: log)]
                return try HTTPDaemon(
                    host: address.host, port: UInt16(address.port), configuration: daemon, handler: handler())
            } close: { daemon in
                await Thread.run { daemon.stop(drainingFor: drainLimit) }
            }
        }
    }

    private static func ops(
        _ address: PeerAddress, _ configuration: Configuration, _ log: ProcessLog,
        handler: @escaping @Sendable () -> OpsHandler
    ) -> ValueService<HTTPDaemon> {
        ValueService("ops listener") {
            var daemon = configuration.ops
            // Probes and scrapes would outnumber everything else in the log.
            daemon.observers = [HTTPAccessLog(listener: ListenerName.ops.rawValue, log: log, successLevel: .debug)]
            return try HTTPDaemon(
                host: address.host, port: UInt16(address.port), configuration: daemon, handler: handler())
        } close: {
            $0.stop(drainingFor: .seconds(1))
        }
    }
}

extension Endpoints {
    /// The endpoints of the listeners for devices.
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
