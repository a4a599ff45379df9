import EventLoops
import HTTPTypes
import RPC

/// A call whose other side is a thread that waits, that of a connection over HTTP/1.1 or of a caller within the process: what
/// comes from the thread goes to the call, what the call answers waits for the thread.
///
/// Sendable although it has state: that is touched on its loop only, but for `init`.
final class ThreadCallStream: CallStream, @unchecked Sendable {  // state belongs to its loop
    /// Bytes of the response that lie ready for the thread; what is beyond counts as unsent, and holds the handler.
    private static let window = 256 << 10

    private let server: RPCServer
    private let loop: EventLoop
    private let peer: PeerAddress
    private let progress: CallProgress
    private var origin: CallOrigin?
    private var call: ServerCall?
    private var lifecycle: ConnectionLifecycle?
    private var timer: LoopTimer?

    /// The handler is behind: what arrives waits.
    private var isRequestHeld = false
    private var heldPieces: [[UInt8]] = []
    private var isRequestComplete = false

    private var head: (status: Int, fields: HTTPFields)?
    /// What waits for room in the window, the first of it partly gone.
    private var queue: [[UInt8]] = []
    private var queueStart = 0
    private(set) var unsentBytes = 0
    private var room = ThreadCallStream.window
    private var producedBytes: UInt64 = 0
    private var isResponseComplete = false
    /// What is complete is not all that there should be.
    private var breaksOff = false
    private var isReportScheduled = false

    init(server: RPCServer, loop: EventLoop, peer: PeerAddress, progress: CallProgress) {
        self.server = server
        self.loop = loop
        self.peer = peer
        self.progress = progress
    }

    // MARK: the thread's side, carried to the loop

    /// - Parameter fields: of the request, its method and path among them, as HTTP/2 names them.
    func open(_ fields: [(name: String, value: String)], hasBody: Bool) {
        call = open(fields) { head, origin in server.open(&head, from: origin, on: self) }
        if !hasBody { call?.receiveEnd() }
    }

    /// The same for a request in no protocol.
    ///
    /// - Parameters:
    ///   - message: all of the request, as the method takes it.
    ///   - encoder: writes the response.
    func open(_ fields: [(name: String, value: String)], _ message: [UInt8], _ encoder: LocalEncoder) {
        call = open(fields) { head, origin in server.open(&head, for: encoder, from: origin, on: self) }
        message.withUnsafeBytes { call?.receive($0) }
        call?.receiveEnd()
    }

    private func open(
        _ fields: [(name: String, value: String)], _ call: (inout RequestHead, CallOrigin) -> ServerCall?
    ) -> ServerCall? {
        let origin = CallOrigin(server: server, loop: loop, peer: peer, mayWait: false)
        self.origin = origin
        server.metrics.connectionOpened()
        startWatching()
        var head = RequestHead()
        for (name, value) in fields { head.add(name, value, server: server) }
        return call(&head, origin)
    }

    func receive(_ piece: [UInt8]) {
        // Behind those that still wait, where the handler goes on only now.
        if isRequestHeld || !heldPieces.isEmpty { heldPieces.append(piece) } else { pass(piece) }
    }

    /// The request is whole.
    func finish() {
        isRequestComplete = true
        if heldPieces.isEmpty { call?.receiveEnd() }
    }

    /// The thread has taken so many bytes of the response.
    func consume(_ count: Int) {
        room += count
        report()
    }

    /// The client is gone, or wants no more.
    func cancel() { close() }

    // MARK: the request

    private func pass(_ piece: [UInt8]) {
        piece.withUnsafeBytes { call?.receive($0) }
        progress.update { $0.unsent -= piece.count }
    }

    func holdRequest(_ isHeld: Bool) {
        isRequestHeld = isHeld
        guard !isHeld, !heldPieces.isEmpty else { return }
        // Later: the call is at work on what came before.
        loop.run { [self] in passHeldPieces() }
    }

    private func passHeldPieces() {
        guard !heldPieces.isEmpty else { return }
        while !isRequestHeld, !heldPieces.isEmpty { pass(heldPieces.removeFirst()) }
        if isRequestComplete, heldPieces.isEmpty { call?.receiveEnd() }
    }

    // MARK: the response

    func send(_ part: ResponsePart) {
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
        // All at once: a response that is whole when the thread first sees it can be sent with its length.
        loop.run { [self] in report() }
    }

    /// Moves what there is room for to the thread.
    private func report() {
        isReportScheduled = false
        guard let origin else { return }
        let ready = takeReady()
        if !ready.isEmpty {
            unsentBytes -= ready.count
            producedBytes += UInt64(ready.count)
            room -= ready.count
            origin.responseBytesChanged(by: -ready.count, of: call)
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
        } else if queue.isEmpty, !ready.isEmpty {
            call?.drained()
        }
    }

    private func takeReady() -> [UInt8] {
        var ready: [UInt8] = []
        while let first = queue.first, ready.count < room {
            let taken = first[queueStart...].prefix(room - ready.count)
            queueStart += taken.count
            ready += taken
            guard queueStart == first.count else { break }
            queue.removeFirst()
            queueStart = 0
        }
        return ready
    }

    // MARK: time

    private func startWatching() {
        var lifecycle = ConnectionLifecycle(server.limits.lifecycle, jitter: Double.random(in: 0...1), now: loop.now)
        // The request is there, and a call is all that there will be.
        lifecycle.handshakeCompleted()
        lifecycle.streamsChanged(1, at: loop.now)
        self.lifecycle = lifecycle
        scheduleTick(after: lifecycle.tickInterval)
    }

    /// The timer keeps the exchange until that is over.
    private func scheduleTick(after interval: UInt64) {
        timer = loop.schedule(at: loop.now &+ interval) { [self] in tick() }
    }

    private func tick() {
        guard var lifecycle else { return }
        let now = loop.now
        // Whether the client is there, the thread sees by its socket.
        lifecycle.received(at: now)
        if unsentBytes > 0 { lifecycle.answersWait(sent: producedBytes, at: now) }
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
        // By now the call may have ended by its rate.
        guard origin != nil else { return }
        self.lifecycle = lifecycle
        scheduleTick(after: lifecycle.tickInterval)
    }

    /// Ends the exchange, once; a response that is not whole breaks off.
    private func close() {
        guard let origin else { return }
        self.origin = nil
        lifecycle = nil
        timer?.cancel()
        timer = nil
        // Before the bytes are given back, for they are the call's.
        call?.broken()
        if unsentBytes > 0 { origin.responseBytesChanged(by: -unsentBytes, of: call) }
        (unsentBytes, queue, heldPieces) = (0, [], [])
        origin.gone()
        server.metrics.connectionClosed()
        progress.update { if $0.end == nil { $0.end = .broken } }
        call = nil
    }
}
