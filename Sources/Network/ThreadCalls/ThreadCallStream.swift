import EventLoops
import HTTPTypes
import RPC

/// A call whose client side is a waiting thread, either of an HTTP/1.1 connection or of a caller within the process: input from the
/// thread is sent to the call, and the call's output waits for the thread.
///
/// Sendable although it is mutable: its state is used on its loop only, except in `init`.
final class ThreadCallStream: CallStream, @unchecked Sendable {  // state belongs to its loop
    /// The number of response bytes that may wait for the thread; further bytes count as unsent, and hold the handler.
    static let window = 256 << 10

    private let server: RPCServer
    private let loop: EventLoop
    private let peer: PeerAddress
    private let progress: CallProgress
    private var origin: CallOrigin?
    private var call: ServerCall?
    private var lifecycle: ConnectionLifecycle?
    private var timer: LoopTimer?

    /// Whether the handler is behind, so that arriving pieces wait.
    private var isRequestHeld = false
    private var heldPieces: [[UInt8]] = []
    private var isRequestComplete = false

    private var head: (status: Int, fields: HTTPFields)?
    /// The output that exceeds the window; `queueStart` bytes of the first piece were taken already.
    private var queue: [[UInt8]] = []
    private var queueStart = 0
    private(set) var unsentBytes = 0
    private var capacity = ThreadCallStream.window
    private var producedBytes: UInt64 = 0
    private var isResponseComplete = false
    /// Whether the response ends incomplete.
    private var breaksOff = false
    private var isReportScheduled = false
    /// Whether the thread reads a source of the response.
    private var hasSource = false

    init(server: RPCServer, loop: EventLoop, peer: PeerAddress, progress: CallProgress) {
        self.server = server
        self.loop = loop
        self.peer = peer
        self.progress = progress
    }

    // MARK: For the thread

    /// - Parameter fields: the request's fields, including its method and path with HTTP/2's names.
    func open(_ fields: [(name: String, value: String)], hasBody: Bool) {
        call = open(fields) { head, origin in server.open(&head, from: origin, on: self) }
        if let call, call.receivesStream { progress.take { $0.isRequestStream = true } }
        if !hasBody { call?.receiveEnd() }
    }

    /// Opens a call without a protocol.
    ///
    /// - Parameters:
    ///   - message: the complete request, in the method's encoding.
    ///   - encoder: writes the response.
    func open(_ fields: [(name: String, value: String)], _ message: [UInt8], _ encoder: LocalEncoder) {
        call = open(fields) { head, origin in server.open(&head, for: encoder, from: origin, on: self) }
        message.withUnsafeBytes { call?.receive($0) }
        call?.receiveEnd()
    }

    private func open(
        _ fields: [(name: String, value: String)], _ call: (inout RequestHead, CallOrigin) -> ServerCall?
    ) -> ServerCall? {
        loop.preconditionCurrent()
        let origin = CallOrigin(server: server, loop: loop, peer: peer, mayWait: false)
        self.origin = origin
        server.metrics.connectionOpened()
        startWatching()
        var head = RequestHead()
        for (name, value) in fields { head.add(name, value, server: server) }
        return call(&head, origin)
    }

    func receive(_ piece: [UInt8]) {
        loop.preconditionCurrent()
        // After the pieces that still wait, which the handler is about to continue with.
        if isRequestHeld || !heldPieces.isEmpty { heldPieces.append(piece) } else { pass(piece) }
    }

    /// Handles the end of the request.
    func finish() {
        loop.preconditionCurrent()
        isRequestComplete = true
        if heldPieces.isEmpty { call?.receiveEnd() }
    }

    /// Records that the thread has taken this number of response bytes.
    func consume(_ count: Int) {
        loop.preconditionCurrent()
        capacity += count
        report()
    }

    /// Records that the thread has read a source to its end, or that it failed.
    func endSource(_ error: (any Error)?) {
        loop.preconditionCurrent()
        guard hasSource else { return }
        hasSource = false
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
        isRequestHeld = isHeld
        guard !isHeld, !heldPieces.isEmpty else { return }
        // Deferred: the call is still processing the earlier input.
        loop.run { [self] in passHeldPieces() }
    }

    private func passHeldPieces() {
        guard !heldPieces.isEmpty else { return }
        while !isRequestHeld, !heldPieces.isEmpty { pass(heldPieces.removeFirst()) }
        if isRequestComplete, heldPieces.isEmpty { call?.receiveEnd() }
    }

    // MARK: Response

    func send(_ part: ResponsePart) {
        loop.preconditionCurrent()
        guard let origin else { return }
        if let head = part.head {
            var fields = HTTPFields()
            for (name, value) in head.fields { fields.append(name, String(decoding: value, as: UTF8.self)) }
            self.head = (head.status ?? 0, fields)
        }
        if !part.body.isEmpty {
            queue.append(part.body)
            unsentBytes += part.body.count
            origin.responseBytesChanged(by: part.body.count, of: call)
        }
        if part.isLast { isResponseComplete = true }
        if case .broken = part.end { breaksOff = true }
        guard !isReportScheduled else { return }
        isReportScheduled = true
        // Deferred to combine output: a response that is complete when the thread first sees it can be sent with its length.
        loop.run { [self] in report() }
    }

    func send(_ head: ResponsePart, before source: any BodySource) -> Bool {
        loop.preconditionCurrent()
        guard origin != nil, head.body.isEmpty, queue.isEmpty, !hasSource else { return false }
        send(head)
        hasSource = true
        progress.update { $0.source = source }
        return true
    }

    /// Moves output to the thread as far as the window allows.
    private func report() {
        isReportScheduled = false
        guard let origin else { return }
        let ready = takeReady()
        let count = ready.reduce(0) { $0 + $1.count }
        if count > 0 {
            unsentBytes -= count
            producedBytes += UInt64(count)
            capacity -= count
            origin.responseBytesChanged(by: -count, of: call)
        }
        if unsentBytes == 0 { lifecycle?.answersAreSent() }
        let (head, isWhole) = (head, isResponseComplete && queue.isEmpty)
        progress.update { state in
            state.head = head
            state.body += ready
            if isWhole, state.end == nil { state.end = breaksOff ? .brokenOff : .complete }
        }
        if isWhole {
            close()
        } else if queue.isEmpty, count > 0 {
            call?.drained()
        }
    }

    /// Takes the pieces that the window has capacity for from the queue. Only a piece that exceeds the window is divided: the thread gets
    /// all others without a copy.
    private func takeReady() -> [[UInt8]] {
        var ready: [[UInt8]] = []
        var capacity = capacity
        while let first = queue.first, capacity > 0 {
            if queueStart == 0, first.count <= capacity {
                ready.append(queue.removeFirst())
                capacity -= first.count
                continue
            }
            guard queueStart > 0 || first.count > Self.window else { break }
            let part = first[queueStart...].prefix(capacity)
            ready.append(Array(part))
            queueStart += part.count
            capacity -= part.count
            guard queueStart == first.count else { break }
            queue.removeFirst()
            queueStart = 0
        }
        return ready
    }

    // MARK: Time

    private func startWatching() {
        var lifecycle = ConnectionLifecycle(server.limits.lifecycle, jitter: Double.random(in: 0...1), now: loop.now)
        // The request has arrived, and the connection carries this one call only.
        lifecycle.handshakeCompleted()
        lifecycle.streamsChanged(1, at: loop.now)
        self.lifecycle = lifecycle
        scheduleTick(after: lifecycle.tickInterval)
    }

    /// Schedules the next tick. The timer keeps the exchange alive until it is over.
    private func scheduleTick(after interval: UInt64) {
        timer = loop.schedule(at: loop.now &+ interval) { [self] in tick() }
    }

    private func tick() {
        guard var lifecycle else { return }
        let now = loop.now
        // The thread notices by its socket whether the client is still connected.
        lifecycle.received(at: now)
        if unsentBytes > 0 || hasSource {
            lifecycle.answersWait(sent: producedBytes + UInt64(progress.take { $0.sourceBytes }), at: now)
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
        // The call may have ended by now because of its rate.
        guard origin != nil else { return }
        self.lifecycle = lifecycle
        scheduleTick(after: lifecycle.tickInterval)
    }

    /// Ends the exchange, once; aborts an incomplete response.
    private func close() {
        loop.preconditionCurrent()
        guard let origin else { return }
        self.origin = nil
        lifecycle = nil
        timer?.cancel()
        timer = nil
        if hasSource { call?.sourceStopped(progress.take { $0.sourceBytes }) }
        hasSource = false
        // Before the bytes are returned, because they are counted for the call.
        call?.broken()
        if unsentBytes > 0 { origin.responseBytesChanged(by: -unsentBytes, of: call) }
        (unsentBytes, queue, heldPieces) = (0, [], [])
        origin.gone()
        server.metrics.connectionClosed()
        progress.update { if $0.end == nil { $0.end = .broken } }
        call = nil
    }
}
