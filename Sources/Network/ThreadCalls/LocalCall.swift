import EventLoops
import RPC
import Wire

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
