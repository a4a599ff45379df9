package import HTTPTypes
package import RPC
package import Sockets

/// One address that serves RPCs: a listening socket on every loop, and its accepted connections.
package final class RPCListener: Sendable {
    /// The address in use, with the actual port.
    package let address: PeerAddress
    private let acceptors: [Acceptor]

    /// - Parameters:
    ///   - address: port 0 selects a free port.
    ///   - certificates: the certificates for TLS; `nil` = cleartext.
    ///   - shortage: notified when connections cannot be accepted because the process has no free descriptor.
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

    /// Stops accepting, lets calls finish that make progress, and returns when all connections are closed; those still open after
    /// `limit` are aborted.
    package func stop(limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for acceptor in acceptors { group.addTask { await acceptor.stop(limit: limit) } }
        }
    }
}
