import Foundation
import Network
import RPC

/// A running gateway: its rooms, and the listeners where they can be reached.
final class Gateway: Sendable {
    /// How long calls that are under way when the gateway is told to end may take.
    private static let drainLimit = Duration.seconds(20)

    /// What listens where, in the order of `ListenerName`.
    let listeners: [(name: String, address: String)]
    private let directory: DataDirectory
    private let rooms: Rooms
    private let state = ServingState()
    private let loops: [EventLoop]
    private let rpcListeners: [RPCListener]
    private let ops: HTTPDaemon

    /// Makes the data directory where it is missing, opens what is in it, and listens.
    init(_ configuration: Configuration, dataDirectory: String) async throws {
        directory = try DataDirectory(dataDirectory)
        rooms = try await Rooms(configuration, directory: directory)
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        loops = (0..<processors).map { EventLoop(name: "loop-\($0)") }
        var opened: [(ListenerName, PeerAddress)] = []
        var rpcListeners: [RPCListener] = []
        for name in [ListenerName.auth, .gateway, .admin, .deviceInit] {
            let server = Self.server(rooms.router(name), rooms, state)
            let listener = try RPCListener(configuration.address(name), server: server, loops: loops)
            opened.append((name, listener.address))
            rpcListeners.append(listener)
        }
        self.rpcListeners = rpcListeners
        let opsAddress = configuration.address(.ops)
        ops = try HTTPDaemon(
            host: opsAddress.host, port: UInt16(opsAddress.port), handler: OpsHandler(state: state))
        opened.append((.ops, PeerAddress(host: ops.host, port: Int(ops.port))))
        listeners = opened.map { ($0.rawValue, $1.description) }
    }

    /// A server for `services`, with health beside them.
    private static func server(_ services: Router, _ rooms: Rooms, _ state: ServingState) -> RPCServer {
        var router = services
        HealthService(services: services.services, state: state).register(in: &router)
        return RPCServer(router: router, interceptors: [FailureLog(), rooms.accounts.authenticator])
    }

    /// Lets calls under way end, takes no new ones, and closes everything.
    func stop() async {
        state.stopServing()
        await withTaskGroup(of: Void.self) { group in
            for listener in rpcListeners { group.addTask { await listener.stop(limit: Self.drainLimit) } }
        }
        ops.stop(drainingFor: 1)
        await rooms.close()
        for loop in loops { loop.stop() }
    }
}
