import Crypto
import Wire

/// A call's stream of an HTTP/2 connection: gathers the header section, hands the body to the call, and sends the response
/// as flow control allows.
final class HTTP2CallStream: HTTP2Stream, CallStream {
    /// Bytes of the request that may come after the end of the response, before the stream is broken off.
    private static let longestLingering = 16 << 20

    /// Owns the session that owns this stream, until the stream is closed.
    private let connection: ServerConnection
    private let origin: CallOrigin
    private let server: RPCServer
    private var head = RequestHead()
    private var isHeadComplete = false
    /// `nil` until the header section has come, and where the request is no call.
    private(set) var call: ServerCall?
    private var unconsumed = 0
    /// While true, bytes that arrive do not open the window again: the handler is behind.
    private var holdsWindow = false
    /// Bytes of the request that came after the end of the response.
    private var lingered = 0
    /// The response breaks off when what was written has left.
    private var breaksOff = false

    init(connection: ServerConnection) {
        self.connection = connection
        origin = connection.origin
        server = connection.server
    }

    // MARK: what arrives

    override func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard !isHeadComplete else { return }
        head.add(name, value, server: server)
    }

    override func receiveHeadersEnd(isTrailers: Bool) {
        guard !isHeadComplete else { return }
        isHeadComplete = true
        if head.isTooLarge { connection.refusedHeaders() }
        call = server.open(&head, from: origin, on: self)
    }

    override func receive(data: UnsafeRawBufferPointer) {
        unconsumed += data.count
        if let call, call.isOpen {
            call.receive(data)
        } else if lingers {
            lingered += data.count
            if lingered > Self.longestLingering { reset(.noError) }
        }
        if !holdsWindow { consumeArrived() }
    }

    override func receiveEnd() { call?.receiveEnd() }

    override func drained() { breaksOff ? reset(.internalError) : call?.drained() }

    override func closed(code: UInt32) {
        // What was never read counts against the connection's window, which the other streams need.
        consumeArrived()
        call?.broken()
    }

    override func unsentBytesChanged(by change: Int) {
        origin.responseBytesChanged(by: change, of: call)
        if origin.queuedBytes == 0 { connection.answersAreSent() }
    }

    private func consumeArrived() {
        guard unconsumed > 0 else { return }
        consume(unconsumed)
        unconsumed = 0
    }

    // MARK: CallStream

    func send(_ part: ResponsePart) {
        if let head = part.head {
            if case .head = part.end { return respondAndFinish(head.block) }
            if case .permanent(let section, let requestID?) = head {
                requestID.withBytes { respond(section.block, RequestID.field, $0) }
            } else {
                respond(head.block)
            }
        }
        write(part.body)
        switch part.end {
        case .none, .head:
            break
        case .body:
            lingers = true
            finish()
        case .broken:
            breaksOff = true
            if unsentBytes == 0 { reset(.internalError) }
        case .trailers(let section):
            finish(section.block)
        }
    }

    func holdRequest(_ isHeld: Bool) {
        holdsWindow = isHeld
        if !isHeld { consumeArrived() }
    }
}
