import EventLoops
import HTTPTypes
import RPC

/// A call whose client side is a waiting thread, either of an HTTP/1.1 connection or of a caller within the process: input from the
/// thread is sent to the call, and the call's output waits for the thread.
///
/// Sendable although it is mutable: its state is used on its loop only, which it checks, except in `init`.
final class ThreadCallStream: CallStream, @unchecked Sendable {  // state belongs to its loop; checked
    /// An exchange in progress.
    private struct Exchange {
        let origin: CallOrigin
        /// `nil` until the request's header section was read, and if it was no call.
        var call: ServerCall?
        var lifecycle: ConnectionLifecycle
        var timer: LoopTimer?
    }

    private let server: RPCServer
    private let loop: EventLoop
    private let peer: PeerAddress
    private let progress: CallProgress
    /// `nil` before the exchange and after it.
    private var exchange: Exchange?
    private var request = RequestPieces()
    private var response = ResponseWindow()

    init(server: RPCServer, loop: EventLoop, peer: PeerAddress, progress: CallProgress) {
        self.server = server
        self.loop = loop
        self.peer = peer
        self.progress = progress
    }

    // MARK: For the thread

    /// - Parameter fields: the request's fields, including its method and path with HTTP/2's names.
    func open(_ fields: [(name: String, value: String)], hasBody: Bool) {
        open(fields) { head, origin in server.open(&head, from: origin, on: self) }
        if let call, call.receivesStream { progress.take { $0.isRequestStream = true } }
        if !hasBody { finish() }
    }

    /// Opens a call without a protocol.
    ///
    /// - Parameters:
    ///   - message: the complete request, in the method's encoding.
    ///   - encoder: writes the response.
    func open(_ fields: [(name: String, value: String)], _ message: [UInt8], _ encoder: LocalEncoder) {
        open(fields) { head, origin in server.open(&head, for: encoder, from: origin, on: self) }
        message.withUnsafeBytes { call?.receive($0) }
        call?.receiveEnd()
    }

    private func open(
        _ fields: [(name: String, value: String)], _ call: (inout RequestHead, CallOrigin) -> ServerCall?
    ) {
        loop.preconditionCurrent()
        let origin = CallOrigin(server: server, loop: loop, peer: peer, mayWait: false)
        exchange = Exchange(origin: origin, lifecycle: lifecycle())
        server.metrics.connectionOpened()
        scheduleTick()
        var head = RequestHead()
        for (name, value) in fields { head.add(name, value, server: server) }
        let call = call(&head, origin)
        exchange?.call = call
    }

    private var call: ServerCall? { exchange?.call }

    func receive(_ piece: [UInt8]) {
        loop.preconditionCurrent()
        // After the end, nothing waits for the call any more.
        if exchange == nil || request.receive(piece) { pass(piece) }
    }

    /// Handles the end of the request.
    func finish() {
        loop.preconditionCurrent()
        if request.finish() { call?.receiveEnd() }
    }

    /// Records that the thread has taken this number of response bytes.
    func consume(_ count: Int) {
        loop.preconditionCurrent()
        response.consume(count)
        report()
    }

    /// Records that the thread has read a source to its end, or that it failed.
    func endSource(_ error: (any Error)?) {
        loop.preconditionCurrent()
        guard response.endSource() else { return }
        call?.sourceEnded(progress.take { $0.sourceBytes }, error)
    }

    /// Cancels the call, because the client disconnected or wants no more.
    func cancel() { close() }

    // MARK: Request

    private func pass(_ piece: [UInt8]) {
        piece.withUnsafeBytes { call?.receive($0) }
        progress.update { $0.unsent -= piece.count }
    }

    func holdRequest(_ isHeld: Bool) {
        loop.preconditionCurrent()
        guard request.hold(isHeld) else { return }
        // Deferred: the call is still processing the earlier input.
        loop.run { [self] in passHeldPieces() }
    }

    private func passHeldPieces() {
        while true {
            switch request.next() {
            case .piece(let piece): pass(piece)
            case .end: return call?.receiveEnd() ?? ()
            case .nothing: return
            }
        }
    }

    // MARK: Response

    var unsentBytes: Int { response.unsentBytes }

    func send(_ part: ResponsePart) {
        loop.preconditionCurrent()
        guard let exchange else { return }
        response.append(part)
        if !part.body.isEmpty { exchange.origin.responseBytesChanged(by: part.body.count, of: exchange.call) }
        guard response.scheduleReport() else { return }
        // Deferred to combine output: a response that is complete when the thread first sees it can be sent with its length.
        loop.run { [self] in report() }
    }

    func send(_ head: ResponsePart, before source: any BodySource) -> Bool {
        guard exchange != nil, head.body.isEmpty, response.isEmpty, !response.hasSource else { return false }
        send(head)
        response.beginSource()
        progress.update { $0.source = source }
        return true
    }

    /// Moves output to the thread as far as the window allows.
    private func report() {
        guard let exchange else { return }
        let ready = response.take()
        let count = ready.reduce(0) { $0 + $1.count }
        if count > 0 { exchange.origin.responseBytesChanged(by: -count, of: exchange.call) }
        if response.unsentBytes == 0 { self.exchange?.lifecycle.responsesAreSent() }
        let (head, end) = (response.head, response.finalEnd)
        progress.update { state in
            state.head = head
            state.body += ready
            if let end, state.end == nil { state.end = end }
        }
        if end != nil {
            close()
        } else if response.isEmpty, count > 0 {
            call?.drained()
        }
    }

    // MARK: Time

    private func lifecycle() -> ConnectionLifecycle {
        var lifecycle = ConnectionLifecycle(server.limits.lifecycle, jitter: Double.random(in: 0...1), now: loop.now)
        // The request has arrived, and the connection carries this one call only.
        lifecycle.handshakeCompleted()
        lifecycle.streamsChanged(1, at: loop.now)
        return lifecycle
    }

    /// Schedules the next tick. The timer keeps the exchange alive until it is over.
    private func scheduleTick() {
        guard let interval = exchange?.lifecycle.tickInterval else { return }
        exchange?.timer = loop.schedule(at: loop.now &+ interval) { [self] in tick() }
    }

    private func tick() {
        guard var lifecycle = exchange?.lifecycle else { return }
        let now = loop.now
        // The thread notices by its socket whether the client is still connected.
        lifecycle.received(at: now)
        if response.unsentBytes > 0 || response.hasSource {
            lifecycle.responsesWait(sent: response.producedBytes + UInt64(progress.take { $0.sourceBytes }), at: now)
        }
        call?.checkRate(at: now)
        switch lifecycle.tick(at: now) {
        case .none, .ping:
            break
        case .shutDown(let reason):
            server.metrics.limitReached(reason)
        case .abort(let reason):
            server.metrics.limitReached(reason)
            return close()
        }
        // The call, and with it the exchange, may have ended by now because of its rate.
        exchange?.lifecycle = lifecycle
        scheduleTick()
    }

    /// Ends the exchange, once; aborts an incomplete response.
    private func close() {
        loop.preconditionCurrent()
        guard let exchange else { return }
        self.exchange = nil
        exchange.timer?.cancel()
        if response.endSource() { exchange.call?.sourceStopped(progress.take { $0.sourceBytes }) }
        // Before the bytes are returned, because they are counted for the call.
        exchange.call?.broken()
        let unsent = response.drop()
        if unsent > 0 { exchange.origin.responseBytesChanged(by: -unsent, of: exchange.call) }
        request.drop()
        exchange.origin.disconnected()
        server.metrics.connectionClosed()
        progress.update { if $0.end == nil { $0.end = .broken } }
    }
}
