import EventLoops
import HTTPTypes
import RPC
import Synchronization
import Wire

/// A server's methods for callers within the process, which have a thread to wait on.
///
/// A call is subject to all that a client's is, for the address in whose name it is made: interceptors, limits, metrics. It
/// travels in no protocol: its message goes to the method as it is, and what the method sends comes back as it is.
package final class LocalCalls: Sendable {
    /// On whose behalf a call is made, and what is said beside its message.
    package struct Caller: Sendable {
        /// The numeric address of who asks for it.
        var peer: String
        /// The metadata.
        var fields: [(name: String, value: String)]
        /// The caller's socket, only to see whether the caller is still connected; -1 without one.
        var socket: Int32

        package init(peer: String, fields: [(name: String, value: String)], socket: Int32) {
            self.peer = peer
            self.fields = fields
            self.socket = socket
        }
    }

    private let server: RPCServer
    private let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// - Parameter loops: where the calls run; not empty.
    package init(server: RPCServer, loops: [EventLoop]) {
        self.server = server
        self.loops = loops
    }

    /// Begins a call whose request is one message.
    package func call(
        _ method: MethodDescriptor, _ message: some Message, for caller: Caller
    ) throws(RPCError) -> any LocalMessages {
        guard let progress = CallProgress() else {
            server.metrics.limitReached("descriptors")
            throw RPCError(bare: .unavailable, "the gateway has too many open files: try again later")
        }
        let loop = loops[turn.add(1, ordering: .relaxed).newValue % loops.count]
        let stream = ThreadCallStream(
            server: server, loop: loop, peer: PeerAddress(host: caller.peer, port: 0), progress: progress)
        let encoder = LocalEncoder()
        let body = message.encoded()
        let fields = [(":path", method.path)] + caller.fields
        loop.run { stream.open(fields, body, encoder) }
        return LocalCall(
            stream: stream, encoder: encoder, loop: loop, progress: progress, socket: caller.socket)
    }

    /// The response of a unary method.
    package func unary<Response: Message>(
        _ method: MethodDescriptor, _ request: some Message, for caller: Caller
    ) throws(RPCError) -> Response {
        let call = try call(method, request, for: caller)
        defer { call.close() }
        guard let bytes = try call.next(), let response = try? Response(decoding: bytes) else {
            throw RPCError(bare: .internalError, "the gateway failed")
        }
        // The status follows the message.
        while try call.next() != nil {}
        return response
    }
}
