import HTTPTypes
import RPC
import Sockets

/// One address where RPCs are served: a listening socket on every loop, and the connections that came by it.
package final class RPCListener: Sendable {
    /// Where it listens, with the port that was taken.
    package let address: PeerAddress
    private let acceptors: [Acceptor]

    /// - Parameters:
    ///   - address: port 0 takes a free one.
    ///   - certificates: what TLS is spoken with; `nil` = cleartext.
    ///   - shortage: told when connections cannot be taken because the process has no descriptor left.
    package init(
        _ address: PeerAddress, server: RPCServer, loops: [EventLoop], certificates: TLSCertificates? = nil,
        shortage: DescriptorShortage = DescriptorShortage()
    ) throws(ListenError) {
        let sockets = try ListeningSocket.shared(address, count: loops.count)
        self.address = sockets.first?.address ?? address
        let limits = ConnectionLimits(
            total: server.limits.maxConnections, perAddress: server.limits.maxConnectionsPerAddress)
        let settings = Acceptor.Settings(
            server: server, limits: limits, certificates: certificates, shortage: shortage)
        acceptors = zip(loops, sockets).map { loop, socket in
            Acceptor(loop: loop, descriptor: socket.descriptor, settings: settings)
        }
        for acceptor in acceptors { acceptor.start() }
    }

    /// Takes no connection any more, lets calls under way end, and returns when all connections are closed;
    /// those that are not by `limit` are broken off.
    package func stop(limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for acceptor in acceptors { group.addTask { await acceptor.stop(limit: limit) } }
        }
    }
}
