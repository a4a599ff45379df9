import EventLoops
import HTTPTypes

/// One call over HTTP/1.1, on the thread of its connection: passes the request's body to the call as it arrives, and waits for the
/// response. If the handler falls behind, the thread and so the client wait, and vice versa.
///
/// Sendable although it is mutable: its state is used on the thread of its connection only.
final class RPCExchange: HTTPBodySink, HTTPBodySource, @unchecked Sendable {  // used by its connection's thread alone
    /// The number of bytes of the request that may wait for the handler before the client has to wait.
    private static let highWater = 64 * 1024
    /// The number of sent bytes after which the call is told, so that it does not have to be woken for each buffer.
    private static let reportInterval = 64 * 1024

    private let stream: ThreadCallStream
    private let loop: EventLoop
    private let progress: CallProgress
    private let socket: Int32
    private let hasBody: Bool

    /// The bytes of the response that were taken from the call; those before `position` are sent.
    private var taken: [UInt8] = []
    private var position = 0
    /// The number of sent bytes that the call does not know of.
    private var unreported = 0

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
        let hasRoom = progress.take { state in
            state.unsent += piece.count
            return state.unsent <= Self.highWater
        }
        loop.run { [stream] in stream.receive(piece) }
        if !hasRoom { _ = wait { $0.unsent <= Self.highWater || $0.end != nil } }
    }

    /// Whether the call has ended before its request did, e.g. because a message is too large.
    var isAnswered: Bool { progress.take { $0.end != nil } }

    func finish() -> HTTPResponse {
        if hasBody { loop.run { [stream] in stream.finish() } }
        guard wait(until: { $0.head != nil || $0.end != nil }) else { return Self.broken }
        return progress.take { state in
            guard let head = state.head, let status = state.head?.status, status > 0 else { return Self.broken }
            switch state.end {
            case .complete: return Self.whole(status, head.fields, state.body)
            case .broken: return Self.broken
            case .brokenOff, nil: return HTTPResponse(status: status, fields: head.fields, body: .stream(self))
            }
        }
    }

    /// Returns the complete response. One with its own content length has no body: it is a response to HEAD.
    private static func whole(_ status: Int, _ fields: HTTPFields, _ body: [UInt8]) -> HTTPResponse {
        guard body.isEmpty, let length = fields["content-length"].flatMap({ Int64($0) }) else {
            return HTTPResponse(status: status, fields: fields, body: .bytes(body))
        }
        var others = HTTPFields()
        for field in fields.fields where field.name != "content-length" { others.append(field.name, field.value) }
        return HTTPResponse(status: status, fields: others, body: .omitted(length: length))
    }

    func abandon() { close() }

    // MARK: Response

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if position == taken.count {
            guard wait(until: { !$0.body.isEmpty || $0.end != nil }) else { return nil }
            let (bytes, isBroken) = progress.take { state in
                let bytes = state.body
                state.body = []
                return (bytes, state.end == .broken || state.end == .brokenOff)
            }
            guard !bytes.isEmpty else { return isBroken ? nil : 0 }
            (taken, position) = (bytes, 0)
        }
        let count = min(buffer.count, taken.count - position)
        taken.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position...].prefix(count)))
        }
        position += count
        unreported += count
        if position == taken.count || unreported >= Self.reportInterval {
            loop.run { [stream, unreported] in stream.consume(unreported) }
            unreported = 0
        }
        return count
    }

    func close() { loop.run { [stream] in stream.cancel() } }

    private func wait(until isReady: (CallProgress.State) -> Bool) -> Bool {
        let isThere = progress.wait(socket: socket, until: isReady)
        if !isThere { close() }
        return isThere
    }

    /// The response to a client whose call did not complete its response.
    private static var broken: HTTPResponse {
        var response = HTTPResponse(status: 400)
        response.closes = true
        return response
    }
}
