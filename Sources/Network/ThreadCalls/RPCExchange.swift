import EventLoops
import GRPCWire
import HTTPTypes
import RPC

/// One call over HTTP/1.1, on the thread of its connection: passes the request's body to the call as it arrives, and waits for the
/// response. If the handler falls behind, the thread and so the client wait, and vice versa.
///
/// Sendable although it is mutable: its state is used on the thread of its connection only.
final class RPCExchange: HTTPBodySink, HTTPBodySource, @unchecked Sendable {  // used by its connection's thread alone
    /// The number of bytes of the request that may wait for the handler before the client has to wait.
    private static let highWater = 64 * 1024
    /// The number of sent bytes after which the call is told, so that it does not have to be woken for each buffer.
    private static let reportInterval = ResponseWindow.size / 4

    private let stream: ThreadCallStream
    private let loop: EventLoop
    private let progress: CallProgress
    private let socket: Int32
    private let hasBody: Bool

    /// The pieces of the response that were taken from the call; those before `piece` are sent, and of it the bytes before `position`.
    private var taken: [[UInt8]] = []
    private var piece = 0
    private var position = 0
    /// The number of sent bytes that the call does not know of.
    private var unreported = 0
    /// The number of bytes until the length that the call announced; `nil` = it announced none.
    private var left: Int64?

    init(stream: ThreadCallStream, loop: EventLoop, progress: CallProgress, socket: Int32, hasBody: Bool) {
        self.stream = stream
        self.loop = loop
        self.progress = progress
        self.socket = socket
        self.hasBody = hasBody
    }

    // MARK: Request

    func receive(_ bytes: UnsafeRawBufferPointer) {
        let piece = [UInt8](bytes)
        let hasSpace = progress.take { state in
            state.unsent += piece.count
            return state.unsent <= Self.highWater
        }
        loop.run { [stream] in stream.receive(piece) }
        if !hasSpace { _ = wait { $0.unsent <= Self.highWater || $0.end != nil } }
    }

    /// Whether the call has ended before its request did, e.g. because a message is too large.
    var isAnswered: Bool { progress.take { $0.end != nil } }

    /// A stream may be a large file. Messages are small.
    var isBulk: Bool { progress.take { $0.isRequestStream } }

    func finish() -> HTTPResponse {
        if hasBody { loop.run { [stream] in stream.finish() } }
        guard wait(until: { $0.head != nil || $0.end != nil }) else { return Self.broken }
        let response: HTTPResponse = progress.take { state in
            guard let head = state.head, let status = state.head?.status, status > 0 else { return Self.broken }
            switch state.end {
            case .complete: return Self.whole(status, head.fields, state.body)
            case .broken: return Self.broken
            case .brokenOff, nil:
                let (fields, length) = Self.cut(head.fields)
                return HTTPResponse(status: status, fields: fields, body: .stream(self, length: length))
            }
        }
        if case .stream(_, let length) = response.body { left = length }
        return response
    }

    /// Returns the complete response. One with its own content length and without a body is a response to HEAD.
    private static func whole(_ status: Int, _ fields: HTTPFields, _ body: [[UInt8]]) -> HTTPResponse {
        let (fields, length) = cut(fields)
        if body.isEmpty, let length {
            return HTTPResponse(status: status, fields: fields, body: .omitted(length: length))
        }
        let bytes = body.count == 1 ? body[0] : Array(body.joined())
        // Not as announced: the client must notice.
        if let length, length != bytes.count { return broken }
        return HTTPResponse(status: status, fields: fields, body: .bytes(bytes))
    }

    /// Separates the content length, which the daemon sends, from the other fields.
    private static func cut(_ fields: HTTPFields) -> (HTTPFields, length: Int64?) {
        guard let length = fields["content-length"].flatMap({ Int64($0) }) else { return (fields, nil) }
        var others = HTTPFields()
        for field in fields.fields where field.name != "content-length" { others.append(field.name, field.value) }
        return (others, length)
    }

    func abandon() { close() }

    // MARK: Response

    var hasFiles: Bool { progress.take { $0.source?.hasFiles ?? false } }

    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) -> HTTPBodyPiece? {
        if piece == taken.count {
            switch next() {
            case .pieces(let pieces): (taken, piece, position) = (pieces, 0, 0)
            case .source(let source): return read(source, into: buffer, passesFiles: passesFiles)
            case .end: return .buffered(0)
            case .broken: return nil
            }
        }
        var count = 0
        while count < buffer.count, piece < taken.count {
            count += copy(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
        }
        return isLast(count) && !isComplete() ? nil : .buffered(count)
    }

    private enum Next: Sendable {
        case pieces([[UInt8]])
        case source(any BodySource)
        case end
        case broken
    }

    /// Waits for the next bytes of the response, or its end.
    private func next() -> Next {
        guard wait(until: { !$0.body.isEmpty || $0.source != nil || $0.end != nil }) else { return .broken }
        return progress.take { state in
            if !state.body.isEmpty {
                let pieces = state.body
                state.body = []
                return .pieces(pieces)
            }
            if let end = state.end { return end == .complete ? .end : .broken }
            return state.source.map { .source($0) } ?? .broken
        }
    }

    /// Reads a source on this thread, into the buffer from which the daemon sends: any other way copies each byte more often, and
    /// wakes threads for each piece.
    private func read(
        _ source: any BodySource, into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool
    ) -> HTTPBodyPiece? {
        let result = Result { try source.read(into: buffer, passesFiles: passesFiles) }
        guard case .success(let piece) = result, piece.count > 0 else {
            end(result)
            return isComplete() ? .buffered(0) : nil
        }
        progress.take { $0.sourceBytes += piece.count }
        guard isLast(piece.count) else { return piece }
        end(
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte in
                Result { try source.read(into: byte, passesFiles: false) }
            })
        return isComplete() ? piece : nil
    }

    /// Tells the call that its source has ended: after its last byte, with its error, or because it exceeds the announced length.
    private func end(_ result: Result<HTTPBodyPiece, any Error>) {
        progress.take { $0.source = nil }
        let failure: (any Error)? =
            switch result {
            case .success(let piece) where piece.count == 0: nil
            case .success: RPCError(bare: .internalError, "the response is longer than announced")
            case .failure(let error): error
            }
        loop.run { [stream] in stream.endSource(failure) }
    }

    /// Copies bytes of the present piece, and returns their number.
    private func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let bytes = taken[piece]
        let count = min(buffer.count, bytes.count - position)
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position...].prefix(count)))
        }
        position += count
        if position == bytes.count {
            taken[piece] = []
            (piece, position) = (piece + 1, 0)
        }
        unreported += count
        if piece == taken.count || unreported >= Self.reportInterval {
            loop.run { [stream, unreported] in stream.consume(unreported) }
            unreported = 0
        }
        return count
    }

    /// Counts bytes, and returns whether they are the last ones of the announced length.
    private func isLast(_ count: Int) -> Bool {
        guard let rest = left else { return false }
        left = rest - Int64(count)
        return rest == Int64(count)
    }

    /// Waits for the end of the call before its last bytes are sent: the daemon asks for no more, and would cancel the call.
    private func isComplete() -> Bool {
        wait { $0.end != nil } && progress.take { $0.end == .complete }
    }

    func fileFailed() {
        guard let source = progress.take({ $0.source }) else { return }
        end(.failure(source.fileFailure))
    }

    func close() { loop.run { [stream] in stream.cancel() } }

    private func wait(until isReady: (CallProgress.State) -> Bool) -> Bool {
        let becameReady = progress.wait(socket: socket, until: isReady)
        if !becameReady { close() }
        return becameReady
    }

    /// The response to a client whose call did not complete its response.
    private static var broken: HTTPResponse {
        var response = HTTPResponse(status: 400)
        response.closes = true
        return response
    }
}
