import Backup
import Basics
import Capability
import Configuration
import EventLoops
import HTTPServer
import Observability
import RPC

/// The services of a gateway.
struct GatewayServices: Sendable {
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
        certificates: GatewayCertificates
    ) {
        let log = process.log
        let directory = ValueService("data directory") {
            let directory = try DataDirectory.forServing(
                dataDirectory, rootKey: configuration.database.rootKeyFile)
            try directory.restoreIfRequested(
                migrations: GatewayModules.migrations(configuration.apps.known), now: SystemClock().now(),
                log: Logger(log))
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
                configuration, directory: directory.value, process: process, certificates: certificates)
        } close: {
            $0.close()
        }
        let servers = ValueService("call servers") {
            try CallServers(
                configuration, modules.value, spoolDirectory: dataDirectory, state: process.serving, log: log)
        }
        let listeners = ListenerServices(
            configuration: configuration, certificates: certificates, loops: loops, modules: modules, servers: servers,
            log: log)
        let readiness = Readiness(process.serving, modules)
        (self.directory, self.loops, self.modules) = (directory, loops, modules)
        let grpcListeners = listeners.grpc()
        self.grpcListeners = grpcListeners
        let (web, apps, ops) = (
            listeners.web(grpcListeners), listeners.apps(), listeners.ops(readiness, process.serving)
        )
        httpListeners = [.web: web, .apps: apps, .ops: ops].compactMapValues { $0 }
        // Services that end with their calls and requests are stopped together, since each may take long.
        let grpc: [any Service] = ListenerName.grpc.compactMap { grpcListeners[$0] }
        let http: [any Service] = [web, apps].compactMap { $0 }
        let others: [any Service] = [
            StoreDrain(modules: modules, limit: ListenerServices.drainLimit), ReadDrain(modules: modules),
            BackgroundWorkers(modules),
        ]
        var all: [any Service] = [directory, loops, modules, servers]
        // The ops listener answers probes and scrapes until everything else has ended.
        if let ops { all.append(ops) }
        all.append(ServiceGroup("work", grpc + http + others, stopOrder: .together))
        all.append(readiness)
        self.all = all
    }
}
