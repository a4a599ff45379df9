import CUV
import Glibc
import HTTPTypes
import RPC
import Sockets

/// The part of a listener on one event loop: accepts connections and keeps them.
///
/// Sendable although it is mutable: its state is used on its loop only.
final class Acceptor: @unchecked Sendable {  // state belongs to its loop; checked where it changes
    /// The state that the acceptors of a listener share.
    struct Settings: Sendable {
        var server: RPCServer
        var limits: ConnectionLimits
        /// `nil` = cleartext.
        var certificates: TLSCertificates?
        var shortage: DescriptorShortage
    }

    /// The number of connections that are accepted before open connections are served again.
    private static let batch = 64
    /// The pause in accepting after the process ran out of descriptors.
    private static let pause = Duration.milliseconds(100)

    private let loop: EventLoop
    private let descriptor: Int32
    private let settings: Settings
    private let scratch = TLSScratch()
    private let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private var connections: [ObjectIdentifier: SocketConnection] = [:]
    private var isStopping = false
    private var whenEmpty: CheckedContinuation<Void, Never>?

    /// - Parameter descriptor: a listening socket, which the acceptor owns from now on.
    init(loop: EventLoop, descriptor: Int32, settings: Settings) {
        self.loop = loop
        self.descriptor = descriptor
        self.settings = settings
    }

    func start() {
        loop.run { [self] in
            uv_poll_init(loop.uv, poll, descriptor)
            // Released when the handle is closed.
            poll.pointee.data = Unmanaged.passRetained(self).toOpaque()
            watch()
        }
    }

    /// Watches the listening socket for waiting connections. libuv's own listening is not used because it calls accept(2) in a busy
    /// loop while there are no descriptors.
    private func watch() {
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            guard let context = handle?.pointee.data else { return }
            Unmanaged<Acceptor>.fromOpaque(context).takeUnretainedValue().acceptWaiting()
        }
    }

    private func acceptWaiting() {
        for _ in 0..<Self.batch {
            let client = accept(descriptor, nil, nil)
            if client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                take(client)
                continue
            }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return park()
            case EINTR, ECONNABORTED: continue
            default: return
            }
        }
    }

    /// Leaves connections in the system's queue for a while, until descriptors may be available again.
    private func park() {
        settings.server.metrics.limitReached("descriptors")
        settings.shortage.noted(at: .now)
        uv_poll_stop(poll)
        _ = loop.schedule(after: Self.pause) { [self] in
            if !isStopping { watch() }
        }
    }

    private func take(_ descriptor: Int32) {
        let client = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        uv_tcp_init(loop.uv, client)
        guard uv_tcp_open(client, descriptor) == 0 else {
            close(descriptor)
            Self.discard(client)
            return
        }
        let peer = Self.peer(client)
        do throws(ConnectionLimits.Limit) {
            try settings.limits.enter(peer.host)
        } catch {
            settings.server.metrics.limitReached(error.rawValue)
            Self.discard(client)
            return
        }
        var connectionProtocol: any ConnectionProtocol = ServerConnection(
            server: settings.server, loop: loop, peer: peer)
        if let certificates = settings.certificates {
            connectionProtocol = TLSConnection(connectionProtocol, context: certificates.context, scratch: scratch)
        }
        let connection = SocketConnection(loop: loop, socket: client, connectionProtocol: connectionProtocol) {
            [self] connection in
            settings.limits.leave(peer.host)
            connections.removeValue(forKey: ObjectIdentifier(connection))
            if connections.isEmpty {
                whenEmpty?.resume()
                whenEmpty = nil
            }
        }
        connections[ObjectIdentifier(connection)] = connection
        if isStopping { connection.stop() }
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

    /// Stops accepting, and returns when all connections are closed. Calls that make progress may take until `limit`; then
    /// connections are aborted.
    func stop(limit: Duration) async {
        await withCheckedContinuation { continuation in
            loop.run { [self] in beginStop(limit, continuation) }
        }
    }

    private func beginStop(_ limit: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        loop.preconditionCurrent()
        precondition(!isStopping, "a listener is stopped once")
        isStopping = true
        uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle, let context = handle.pointee.data else { return }
            let acceptor = Unmanaged<Acceptor>.fromOpaque(context).takeRetainedValue()
            close(acceptor.descriptor)
            acceptor.poll.deallocate()
        }
        guard !connections.isEmpty else {
            continuation.resume()
            return
        }
        whenEmpty = continuation
        for connection in connections.values { connection.stop() }
        _ = loop.schedule(after: limit) { [self] in
            for connection in Array(connections.values) { connection.close() }
        }
    }
}
