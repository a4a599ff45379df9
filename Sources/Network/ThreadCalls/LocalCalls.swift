package import EventLoops
import HTTPTypes
package import RPC
import Synchronization
package import Wire

/// A server's methods for callers within the process, each of which has a thread to wait on.
///
/// A call is subject to the same interceptors, limits and metrics as a client's call from the given address. It uses no protocol:
/// its message is passed to the method as it is, and the method's messages are returned as they are.
package final class LocalCalls: Sendable {
    /// The party on whose behalf a call is made, and the call's metadata.
    package struct Caller: Sendable {
        /// The numeric address of the client.
        var peer: String
        /// The metadata.
        var fields: [(name: String, value: String)]
        /// The client's socket, only for checking whether it is still connected; -1 without a socket.
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

    /// - Parameter loops: the loops that run the calls; not empty.
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

    /// Returns the response of a unary method.
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

/// One call within the process, on the thread of its caller.
final class LocalCall: LocalMessages {
    private let stream: ThreadCallStream
    private let encoder: LocalEncoder
    private let loop: EventLoop
    private let progress: CallProgress
    private let socket: Int32
    private var deframer = MessageDeframer(limit: .max)
    private var messages: [[UInt8]] = []

    init(
        stream: ThreadCallStream, encoder: LocalEncoder, loop: EventLoop, progress: CallProgress, socket: Int32
    ) {
        self.stream = stream
        self.encoder = encoder
        self.loop = loop
        self.progress = progress
        self.socket = socket
    }

    func next() throws(RPCError) -> [UInt8]? {
        while messages.isEmpty {
            guard progress.wait(socket: socket, until: { !$0.body.isEmpty || $0.end != nil }) else {
                close()
                throw Self.cancelled
            }
            let (pieces, end) = progress.take { state in
                let pieces = state.body
                state.body = []
                return (pieces, state.end)
            }
            guard !pieces.isEmpty else {
                if let failure = encoder.failure { throw failure }
                if case .complete? = end { return nil }
                throw Self.cancelled
            }
            loop.run { [stream, count = pieces.reduce(0) { $0 + $1.count }] in stream.consume(count) }
            for piece in pieces { try cut(piece) }
        }
        return messages.removeFirst()
    }

    private func cut(_ bytes: [UInt8]) throws(RPCError) {
        let isWellFormed = bytes.withUnsafeBytes { bytes in
            do {
                try deframer.receive(bytes) { message, _ in messages.append([UInt8](message)) }
                return true
            } catch {
                return false
            }
        }
        if !isWellFormed { throw RPCError(bare: .internalError, "the gateway failed") }
    }

    func close() { loop.run { [stream] in stream.cancel() } }

    private static var cancelled: RPCError { RPCError(bare: .cancelled, "the call was canceled") }
}

/// The response messages of a call within the process. Used by one thread.
package protocol LocalMessages: AnyObject {
    /// Waits for the next message; `nil` at the end of a call that succeeded.
    ///
    /// - Throws: the call's error.
    func next() throws(RPCError) -> [UInt8]?

    /// Ends the messages; cancels a call in progress.
    func close()
}
