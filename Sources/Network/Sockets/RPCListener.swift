import CUV
import Foundation
import RPC
import Synchronization

/// One address where RPCs are served: a listening socket on every loop, and the connections that came by it.
public final class RPCListener: Sendable {
    /// Where it listens, with the port that was taken.
    public let address: PeerAddress
    private let acceptors: [Acceptor]

    /// - Parameter address: port 0 takes a free one.
    /// - Parameter certificates: what TLS is spoken with; `nil` = cleartext.
    public init(
        _ address: PeerAddress, server: RPCServer, loops: [EventLoop], certificates: TLSCertificates? = nil
    ) throws(ListenError) {
        let sockets = try ListeningSocket.shared(address, count: loops.count)
        self.address = sockets.first?.address ?? address
        let limit = AddressLimit(server.limits.maxConnectionsPerAddress)
        acceptors = zip(loops, sockets).map { loop, socket in
            Acceptor(
                loop: loop, descriptor: socket.descriptor, server: server, limit: limit, certificates: certificates)
        }
        for acceptor in acceptors { acceptor.start() }
    }

    /// Takes no connection any more, lets calls under way end, and returns when all connections are closed;
    /// those that are not by `limit` are broken off.
    public func stop(limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for acceptor in acceptors { group.addTask { await acceptor.stop(limit: limit) } }
        }
    }
}

/// The part of a listener that is on one loop.
///
/// Sendable although it has state: that is touched on its loop only.
private final class Acceptor: @unchecked Sendable {
    private let loop: EventLoop
    private let descriptor: Int32
    private let server: RPCServer
    private let limit: AddressLimit
    private let certificates: TLSCertificates?
    private let scratch = TLSScratch()
    private let socket = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    private var connections: [ObjectIdentifier: SocketConnection] = [:]
    private var isStopping = false
    private var whenEmpty: CheckedContinuation<Void, Never>?

    init(
        loop: EventLoop, descriptor: Int32, server: RPCServer, limit: AddressLimit, certificates: TLSCertificates?
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.server = server
        self.limit = limit
        self.certificates = certificates
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_stream_t.self)
    }

    func start() {
        loop.run { [self] in
            uv_tcp_init(loop.uv, socket)
            uv_tcp_open(socket, descriptor)
            // Released when the socket is closed.
            socket.pointee.data = Unmanaged.passRetained(self).toOpaque()
            uv_listen(stream, 1024) { handle, status in
                guard status == 0, let context = handle?.pointee.data else { return }
                Unmanaged<Acceptor>.fromOpaque(context).takeUnretainedValue().accept()
            }
        }
    }

    private func accept() {
        let client = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        uv_tcp_init(loop.uv, client)
        let clientStream = UnsafeMutableRawPointer(client).assumingMemoryBound(to: uv_stream_t.self)
        guard uv_accept(stream, clientStream) == 0 else {
            Self.discard(client)
            return
        }
        let peer = Self.peer(client)
        guard limit.enter(peer.host) else {
            server.metrics.limitReached("connections_per_address")
            Self.discard(client)
            return
        }
        var speaker: any ConnectionProtocol = ServerConnection(server: server, loop: loop, peer: peer)
        if let certificates { speaker = TLSConnection(speaker, context: certificates.context, scratch: scratch) }
        let connection = SocketConnection(loop: loop, socket: client, speaker: speaker) { [self] connection in
            limit.leave(peer.host)
            connections.removeValue(forKey: ObjectIdentifier(connection))
            if connections.isEmpty {
                whenEmpty?.resume()
                whenEmpty = nil
            }
        }
        connections[ObjectIdentifier(connection)] = connection
        if isStopping { connection.shutDown() }
    }

    private static func discard(_ socket: UnsafeMutablePointer<uv_tcp_t>) {
        uv_close(UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            UnsafeMutableRawPointer(handle)?.assumingMemoryBound(to: uv_tcp_t.self).deallocate()
        }
    }

    private static func peer(_ socket: UnsafePointer<uv_tcp_t>) -> PeerAddress {
        var storage = sockaddr_storage()
        var size = Int32(MemoryLayout<sockaddr_storage>.size)
        let failed = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { uv_tcp_getpeername(socket, $0, &size) }
        }
        return failed == 0 ? PeerAddress(storage) : .unknown
    }

    func stop(limit: Duration) async {
        await withCheckedContinuation { continuation in
            loop.run { [self] in beginStop(limit, continuation) }
        }
    }

    private func beginStop(_ limit: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        isStopping = true
        uv_close(UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle, let context = handle.pointee.data else { return }
            let acceptor = Unmanaged<Acceptor>.fromOpaque(context).takeRetainedValue()
            acceptor.socket.deallocate()
        }
        guard !connections.isEmpty else {
            continuation.resume()
            return
        }
        whenEmpty = continuation
        for connection in connections.values { connection.shutDown() }
        _ = loop.schedule(after: limit) { [self] in
            for connection in Array(connections.values) { connection.close() }
        }
    }
}
