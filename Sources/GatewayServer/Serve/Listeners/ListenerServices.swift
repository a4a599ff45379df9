import Accounts
import Basics
import Capability
import Configuration
import Console
import EventLoops
import GatewayFormats
import HTTPServer
import HTTPTypes
import Observability
import RPC
import Sockets
import StoreServer
import ThreadCalls

/// Makes the services that listen, each for the enabled listeners of its kind.
struct ListenerServices: Sendable {
    /// The time that calls and requests in progress get when the gateway shuts down.
    static let drainLimit = Duration.seconds(20)

    let configuration: Configuration
    let certificates: GatewayCertificates
    let loops: ValueService<[EventLoop]>
    let modules: ValueService<GatewayModules>
    let servers: ValueService<CallServers>
    let log: ProcessLog

    /// Returns the listeners for gRPC.
    func grpc() -> [ListenerName: ValueService<RPCListener>] {
        // One for all listeners: they run out at the same time, and the log reports it once.
        let shortage = DescriptorShortage {
            Logger(log).write(
                "the process has no free file descriptors",
                ["consequence": "new connections have to wait", "hint": "raise LimitNOFILE of the service"],
                level: .error)
        }
        let enabled = ListenerName.grpc.filter { configuration.listeners[$0] != nil }
        return Dictionary(
            uniqueKeysWithValues: enabled.map { name in
                let service = ValueService("\(name.rawValue) listener") {
                    try RPCListener(
                        configuration.address(name), server: servers.value[name], loops: loops.value,
                        certificates: certificates[name], shortage: shortage)
                } close: {
                    await $0.stop(limit: Self.drainLimit)
                }
                return (name, service)
            })
    }

    /// Returns the listener for people and their tools.
    ///
    /// - Parameter grpc: those that it announces.
    func web(_ grpc: [ListenerName: ValueService<RPCListener>]) -> ValueService<HTTPDaemon>? {
        http(.web, configuration.web) {
            let modules = modules.value
            let server = servers.value[.web]
            let calls = RPCRequestHandler(server: server, loops: loops.value)
            let local = LocalCalls(server: server, loops: loops.value)
            let addresses = grpc.mapValues(\.value.address)
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
    }

    /// Returns the listener for apps.
    func apps() -> ValueService<HTTPDaemon>? {
        http(.apps, configuration.apps.server) {
            let (server, accounts) = (servers.value[.apps], modules.value.core.accounts)
            return AppsHandler(
                calls: RPCRequestHandler(server: server, loops: loops.value, passesHost: true),
                description: APIDescription(
                    server, access: accounts.access, about: .apps, comments: configuration.apps.comments, rules: [:]),
                publicKeys: configuration.apps.issuesAccessTokens ? PublicKeys(accounts: accounts) : nil)
        }
    }

    /// Returns the listener for probes and metrics.
    func ops(_ readiness: Readiness, _ state: ServingState) -> ValueService<HTTPDaemon>? {
        configuration.listeners[.ops].map { address in
            ValueService("ops listener") {
                var daemon = configuration.ops
                // Probes and scrapes would outnumber everything else in the log.
                daemon.observers = [
                    HTTPAccessLog(listener: ListenerName.ops.rawValue, log: log, successLevel: .debug)
                ]
                return try HTTPDaemon(
                    host: address.host, port: UInt16(address.port), configuration: daemon,
                    handler: OpsHandler(readiness: readiness, metrics: metrics(state)))
            } close: {
                $0.stop(drainingFor: .seconds(1))
            }
        }
    }

    private func metrics(_ state: ServingState) -> [any MetricSource] {
        let modules = modules.value
        let own: [any MetricSource] = [
            GatewayMetrics(
                log: log, state: state, database: modules.core.database, store: modules.core.store.objects,
                listeners: configuration.listeners.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    ($0.key.rawValue, "\($0.value)", configuration.isSecure($0.key))
                },
                certificateExpiry: { [certificates] in certificates.expiry }),
            servers.value.metrics, modules.housekeeping.metrics, ProcessMetrics(),
        ]
        return own + modules.capabilities.flatMap(\.metrics)
    }

    /// Returns a listener for calls over HTTP/1.1; `nil` if it is disabled.
    private func http(
        _ name: ListenerName, _ limits: HTTPServerConfiguration,
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
                await Worker.thread("listener-end").run { daemon.stop(drainingFor: Self.drainLimit) }
            }
        }
    }
}

extension Endpoints {
    /// The endpoints of the listeners for devices.
    fileprivate init(_ configuration: Configuration, _ addresses: [ListenerName: PeerAddress]) {
        func endpoint(_ name: ListenerName) -> Endpoint {
            let address = configuration.publicAddresses.address(
                of: name, own: addresses[name] ?? configuration.address(name), isSecure: configuration.isSecure(name))
            return Endpoint(
                scheme: address.isSecure ? .https : .http, host: address.peer.host, port: address.peer.port)
        }
        self.init()
        auth = endpoint(.auth)
        gateway = endpoint(.gateway)
        deviceInit = endpoint(.deviceInit)
    }
}
