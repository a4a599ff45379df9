import Crypto
import HTTP2

/// A call's stream of an HTTP/2 connection: collects the header section, passes the body to the call, and sends the response as
/// flow control allows.
final class HTTP2CallStream: HTTP2Stream, CallStream {
    /// The number of request bytes accepted after the end of the response, before the stream is reset.
    private static let longestLingering = 16 << 20

    /// A strong reference to the owner of the session until the stream is closed.
    private let connection: ServerConnection
    private let origin: CallOrigin
    private let server: RPCServer
    private var head = RequestHead()
    private var isHeadComplete = false
    /// The call; `nil` until the header section is complete, and if the request is not a call.
    private(set) var call: ServerCall?
    private var unconsumed = 0
    /// Whether received bytes do not open the window again, because the handler is slower than the client.
    private var holdsWindow = false
    /// The number of request bytes received after the end of the response.
    private var bytesAfterResponse = 0
    /// The number of response bytes that were sent, and the rate at which the client receives them.
    private var sent = (bytes: 0, rate: TransferRate())
    /// Whether the stream is reset when the written bytes were sent.
    private var resetsAfterSending = false

    init(connection: ServerConnection) {
        self.connection = connection
        origin = connection.origin
        server = connection.server
    }

    // MARK: Received data

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
        } else if mayReceiveAfterResponse {
            bytesAfterResponse += data.count
            if bytesAfterResponse > Self.longestLingering { reset(.noError) }
        }
        if !holdsWindow { consumeArrived() }
    }

    override func receiveEnd() { call?.receiveEnd() }

    override func drained() { resetsAfterSending ? reset(.internalError) : call?.drained() }

    override func closed(code: UInt32) {
        // Unread bytes count against the connection's window, which the other streams need.
        consumeArrived()
        call?.broken()
    }

    override func unsentBytesChanged(by change: Int) {
        if change < 0 { sent.bytes -= change }
        origin.responseBytesChanged(by: change, of: call)
        if origin.queuedBytes == 0 { connection.responsesAreSent() }
    }

    /// Resets the stream if its response is received more slowly than clients must receive.
    func checkReader(at now: UInt64) {
        guard unsentBytes > 0 else { return sent.rate.pause() }
        guard sent.rate.isTooSlow(sent.bytes, at: now, server.limits.lifecycle, floor: 1) else { return }
        server.metrics.limitReached("stalled")
        reset(.cancel)
        // The stream stays open until the reset is sent.
        sent.rate.pause()
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
            mayReceiveAfterResponse = true
            finish()
        case .broken:
            resetsAfterSending = true
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
