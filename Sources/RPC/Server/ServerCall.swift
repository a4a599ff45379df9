import CommonProto
import Wire

/// One call at the server, for all protocols and transports, from its request's header section to its status. A subclass for each
/// kind of method handles the messages and runs the handler.
///
/// Sendable although it is mutable: its state is used on its loop only, where its handler runs too.
package class ServerCall: @unchecked Sendable {  // state belongs to its loop
    /// The number of bytes of an uncompressed request that are decoded when they arrive.
    private static let decodedAtOnce = 4096
    /// The number of bytes that are decoded before other work may be next: they may be many messages, each of which may be inflated.
    private static let decodedInOnePiece = 16 * 1024
    /// The number of bytes that wait to be decoded from which the client has to wait.
    private static let mostUndecoded = 64 * 1024

    final let context: CallContext
    private final let origin: CallOrigin
    private final let server: RPCServer
    private final let rules: MethodRules
    private final let metrics: MethodMetrics
    /// The transport; `nil` after the call has ended.
    private final var stream: (any CallStream)?
    private final let codec: MessageCodec
    private final var request: RequestDecoder
    /// Received bytes that are decoded in the call's turn, because that may take long.
    private final var undecoded: [UInt8] = []
    /// The number of bytes at the start of `undecoded` that are decoded.
    private final var decodedCount = 0
    /// Whether the end of the request waits for that turn, after `undecoded`.
    private final var endsUndecoded = false
    /// Whether `undecoded` will be decoded in the next turn of the lane.
    private final var isDecodingScheduled = false
    /// Whether `request` is processing bytes; methods called meanwhile must not change it.
    private final var isReceiving = false
    private final let response: any ResponseEncoder
    private final var responseState = ResponseState()
    private final let encoding: MessageEncoding?
    private final let messageLimit: Int
    /// Whether neither the status was sent nor the stream closed.
    final private(set) var isOpen = true
    private final var hasReceivedEnd = false
    /// The task that admits the call or runs the handler.
    private final var task: HandlerTask?
    /// The lane in whose turns the call proceeds; `nil` until it is first queued.
    final private(set) var lane: Lane?
    /// Whether the server accepted the call.
    private final var isAdmitted = false
    /// Whether the handler may start: the request is complete, or a stream.
    private final var isReady = false
    /// Whether the call waits for its turn.
    private final var isQueued = false
    private final var hasStarted = false
    /// The progress since the server began to stop; `nil` before that.
    private final var progress: ProgressWatch?
    /// Whether the call counts among its connection's handlers.
    private final var isCounted = false
    /// The error of a call for which there is no place.
    private final var refusal: RPCError?
    /// The handler's usage of the listener's limits.
    private final var place: CallPlace?
    /// The usage of the listener by the caller's address: the connection's, unless a proxy passed the call on.
    final private(set) var address: AddressShare
    private final var timer: LoopTimer?
    private final var traffic = CallTraffic()
    /// The time since which a message is arriving, at most one period ago, and the number of bytes received by then.
    private final var arriving: (since: UInt64, received: Int)?
    /// The number of bytes that the listener counts for this call.
    private final var counted = 0

    /// Whether the request is a stream of messages.
    package final var receivesStream: Bool { context.method.kind == .clientStreaming }

    /// Whether the client must pause its request, because the handler is slower.
    final var holdsRequest = false {
        didSet { if holdsRequest != oldValue { stream?.holdRequest(holdsRequest) } }
    }

    init(_ setup: consuming CallSetup, rules: MethodRules, metrics: MethodMetrics) {
        context = setup.context
        origin = setup.origin
        address = setup.origin.address
        server = setup.origin.server
        stream = setup.stream
        codec = setup.adapter.codec
        request = setup.adapter.request
        response = setup.adapter.response
        encoding = setup.encoding
        messageLimit = setup.messageLimit
        self.rules = rules
        self.metrics = metrics
    }

    // MARK: For the kinds of methods

    final func assertCurrent() { origin.loop.assertCurrent() }

    /// Called when the call was admitted, in its turn.
    func admitted() {}

    /// Called with one decompressed message; it is valid during the call only.
    func received(_ message: UnsafeRawBufferPointer, wasCompressed: Bool) throws(RPCError) {}

    /// The size of messages that wait or are being handled, in bytes.
    var heldMessageBytes: Int { 0 }

    /// Whether the handler is slower than the client.
    var isBehind: Bool { false }

    /// Called when the client has sent its last message.
    func receivedAll() {}

    /// Runs the handler, after `becomeReady`.
    nonisolated(nonsending) func handle() async throws {}

    /// Called when the sent messages have left for the client.
    package func drained() {}

    /// Called when the call ends before its handler.
    func cancel() {}

    /// Called when the call has ended: messages that no handler will take can be discarded.
    func dropMessages() {}

    // MARK: Received data

    /// Lets the call wait for its turn, or ends it at once.
    ///
    /// - Parameter fault: the error of its header section.
    final func begin(_ fault: RPCError?) {
        assertCurrent()
        metrics.started()
        if let fault { return fail(fault) }
        // By index: copying each would cost more than most of them do.
        for index in server.interceptors.indices { server.interceptors[index].received(context) }
        if context.peer.host != origin.peer.host { address = server.addresses.share(of: context.peer.host) }
        if let deadline = context.deadline {
            // A timer would leave it to chance whether such a call is handled.
            guard deadline > origin.loop.now else { return fail(Self.deadlineExceeded) }
            timer = origin.loop.schedule(at: deadline) { [self] in fail(Self.deadlineExceeded) }
        }
        queue(in: origin.lane(toAdmit: self))
    }

    private static var deadlineExceeded: RPCError {
        RPCError(bare: .deadlineExceeded, "the call exceeded the client's time limit")
    }

    /// Receives bytes of the request's body.
    package final func receive(_ data: UnsafeRawBufferPointer) {
        assertCurrent()
        guard isOpen else { return }
        traffic.bytesReceived += data.count
        guard isDecodedInTurn else { return decode(data) }
        undecoded.append(contentsOf: data)
        if undecoded.count > Self.mostUndecoded { holdsRequest = true }
        countHeld()
        decodeSoon()
    }

    /// Whether received bytes are decoded in the call's turn: a few bytes may be decompressed to a large message, and a large message
    /// takes long. Others would wait for it, and the caller may be unknown.
    private final var isDecodedInTurn: Bool {
        encoding != nil || traffic.bytesReceived > Self.decodedAtOnce || !undecoded.isEmpty
    }

    private final func decodeSoon() {
        guard isOpen, isAdmitted, !isDecodingScheduled, let lane else { return }
        isDecodingScheduled = true
        lane.perform { [self] in
            isDecodingScheduled = false
            decodeReceived()
        }
    }

    /// Decodes the next received bytes, in the call's turn; the rest in later ones.
    private final func decodeReceived() {
        if !undecoded.isEmpty, isOpen {
            let bytes = undecoded
            let start = decodedCount
            decodedCount = min(start + Self.decodedInOnePiece, bytes.count)
            bytes.withUnsafeBytes { decode(UnsafeRawBufferPointer(rebasing: $0[start..<decodedCount])) }
            guard isOpen else { return }
            if decodedCount < bytes.count { return decodeSoon() }
            (undecoded, decodedCount) = ([], 0)
            holdsRequest = isBehind
        }
        if endsUndecoded {
            endsUndecoded = false
            decodeEnd()
        }
    }

    private final func decode(_ data: UnsafeRawBufferPointer) {
        isReceiving = true
        do throws(RPCError) {
            try request.receive(data) { deliver($0, isCompressed: $1) }
        } catch {
            fail(error)
        }
        isReceiving = false
        if isOpen { countHeld() } else { dropRequest() }
    }

    /// Handles the end of the request.
    package final func receiveEnd() {
        assertCurrent()
        hasReceivedEnd = true
        guard isOpen else { return }
        // A whole body is decoded at its end.
        guard !isDecodedInTurn else {
            endsUndecoded = true
            return decodeSoon()
        }
        decodeEnd()
    }

    private final func decodeEnd() {
        guard isOpen else { return }
        isReceiving = true
        do throws(RPCError) {
            try request.receiveEnd { deliver($0, isCompressed: $1) }
        } catch {
            fail(error)
        }
        isReceiving = false
        if isOpen { receivedAll() } else { dropRequest() }
    }

    /// Discards the parts of the request that an ended call still holds: its stream may stay open.
    private final func dropRequest() {
        guard !isReceiving else { return }
        request = .framed(FramedDecoder(limit: 0))
        (undecoded, decodedCount) = ([], 0)
        dropMessages()
    }

    /// Counts the bytes that the call holds. One client could hold as many incomplete or decompressed messages as it has streams,
    /// so the sum over a listener is limited. Small sizes are not counted.
    private final func countHeld() {
        let held = request.heldBytes + heldMessageBytes + undecoded.count - decodedCount
        let change = (held > 4096 ? held : 0) - counted
        guard change != 0 else { return }
        counted += change
        let limits = server.limits
        let listenerHasSpace = server.metrics.requestBytesChanged(by: change, limit: limits.maxRequestBytes)
        let addressHasSpace = address.requestBytes.add(change, limit: limits.maxRequestBytesPerAddress)
        guard change > 0, !listenerHasSpace || !addressHasSpace else { return }
        server.metrics.limitReached(listenerHasSpace ? "request_bytes_per_address" : "request_bytes")
        fail(RPCError.overloaded("the calls in progress hold too many bytes of requests"))
    }

    /// Ends the call if a message arrives more slowly than clients must send.
    package final func checkRate(at now: UInt64) {
        assertCurrent()
        guard isOpen, !hasReceivedEnd, !holdsRequest, request.heldBytes > 0 else {
            arriving = nil
            return
        }
        let limits = server.limits.lifecycle
        guard let start = arriving else { return arriving = (now, traffic.bytesReceived) }
        let elapsed = now - start.since
        guard elapsed >= limits.stall.loopTime else { return }
        let least = Double(limits.minimumRate) * Double(elapsed) / 1e9
        if Double(traffic.bytesReceived - start.received) >= least { return arriving = (now, traffic.bytesReceived) }
        server.metrics.limitReached("slow_request")
        fail(RPCError.overloaded("the request arrives more slowly than \(limits.minimumRate) bytes a second"))
    }

    private final func deliver(_ message: UnsafeRawBufferPointer, isCompressed: Bool) {
        guard isOpen else { return }
        traffic.messagesReceived += 1
        do throws(RPCError) {
            if isCompressed {
                try decompress(message).withUnsafeBufferPointer { (bytes) throws(RPCError) in
                    try hand(UnsafeRawBufferPointer(bytes), wasCompressed: true)
                }
            } else {
                try hand(message, wasCompressed: false)
            }
        } catch {
            fail(error)
        }
    }

    private final func hand(_ message: UnsafeRawBufferPointer, wasCompressed: Bool) throws(RPCError) {
        guard let decoded = try codec.decode(message) else {
            return try received(message, wasCompressed: wasCompressed)
        }
        try decoded.withUnsafeBufferPointer { (bytes) throws(RPCError) in
            try received(UnsafeRawBufferPointer(bytes), wasCompressed: wasCompressed)
        }
    }

    private final func decompress(_ message: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8] {
        guard let encoding else {
            throw .malformedCall("a message is compressed, and no header field names the format")
        }
        do {
            return try encoding.decompress(message, limit: messageLimit)
        } catch {
            throw error.rpcError
        }
    }

    /// Called when the stream is closed, in order or not; nothing more arrives.
    package final func broken() {
        assertCurrent()
        end(.cancelled, nil)
    }

    // MARK: The handler

    /// Lets the handler start in the call's turn; it sends its messages, and its return or error ends the call.
    final func becomeReady() {
        assertCurrent()
        guard isOpen else { return }
        isReady = true
        if isAdmitted, task == nil, !isQueued, let lane { queue(in: lane) }
    }

    /// Counts the call among those in progress. Only when its handler begins: calls of unknown callers and those that wait for their
    /// turn would otherwise leave no places to others.
    ///
    /// - Returns: whether there is a place; otherwise the call has its `refusal`.
    private final func takePlace() -> Bool {
        do throws(CallPlace.Refusal) {
            place = try CallPlace(waits: rules.waits, at: origin, of: address)
        } catch {
            server.metrics.limitReached(error.limit)
            refusal = RPCError.overloaded(error.message)
            return false
        }
        if rules.waits { limitWaiting() }
        return true
    }

    private final func queue(in lane: Lane) {
        self.lane = lane
        isQueued = true
        if !isCounted {
            isCounted = true
            origin.handlers += 1
        }
        origin.queue(self, in: lane)
    }

    /// Whether a response may wait to be sent. Small ones always may, and a stream waits for its client by itself.
    private final func hasSpace(for frame: [UInt8]) -> Bool {
        let kind = context.method.kind
        guard frame.count > 4096, kind == .unary || kind == .clientStreaming else { return true }
        if server.metrics.responseBytes.value >= server.limits.maxResponseBytes {
            server.metrics.limitReached("response_bytes")
            return false
        }
        if address.responseBytes.value >= server.limits.maxResponseBytesPerAddress {
            server.metrics.limitReached("response_bytes_per_address")
            return false
        }
        return true
    }

    /// Schedules the orderly end of a waiting call, unless its client set an earlier deadline.
    private final func limitWaiting() {
        let end = origin.loop.now &+ server.limits.waiting.lifetime.loopTime
        if let deadline = context.deadline, deadline <= end { return }
        timer?.cancel()
        timer = origin.loop.schedule(at: end) { [self] in endWaiting() }
    }

    private final func endWaiting() {
        let task = task
        succeed()
        cancel()
        task?.cancel()
    }

    /// Whether the call will be refused in its turn, for there is no place for it.
    final var isRefused: Bool { refusal != nil }

    /// Lets the call wait for its turn once more; it has not begun, and counts as queued.
    final func queueAgain() { lane?.run(self) }

    /// Whether the call, whose turn it is, may begin now. If not, it is queued again later.
    final func mayBegin() -> Bool { origin.mayBegin(self) }

    /// Admits the call, unless that was done, and runs the handler if it is ready, unless the call has ended meanwhile.
    nonisolated(nonsending) final func proceed(in task: HandlerTask) async {
        assertCurrent()
        isQueued = false
        if let refusal { fail(refusal) }
        // In one function, because the frames of nested ones would not fit into what a task allocates once.
        if isOpen, !isAdmitted {
            self.task = task
            do {
                if rules.needsAdmission { try await server.admission?.admit(context) }
                isAdmitted = true
                if isOpen { admitted() }
            } catch {
                // The task has done nothing that would have to be cancelled, and can be kept.
                self.task = nil
                fail(error)
            }
        }
        // Not earlier: nothing else limits the number of calls that wait to be admitted.
        origin.left(self)
        if isOpen, isAdmitted {
            self.task = task
            if context.workOwner != nil, let other = origin.otherLane(toRun: context, admittedIn: lane) {
                self.task = nil
                return queue(in: other)
            }
            decodeReceived()
            if isReady, isOpen {
                guard takePlace() else {
                    self.task = nil
                    return queue(in: lane ?? origin.lane)
                }
                hasStarted = true
                do {
                    try await handle()
                    self.task = nil
                    succeed()
                } catch {
                    self.task = nil
                    fail(error)
                }
            }
        }
        self.task = nil
        if isCounted {
            isCounted = false
            origin.handlers -= 1
        }
        if !isOpen { place.take()?.leave(origin, address) }
    }

    // MARK: The server's end

    /// Whether the call can only continue when its client sends or receives something.
    var waitsForClient: Bool { !isReady || unsentBytes > 0 }

    /// Ends the call because the server stops, unless its handler has begun. Waiting methods end in order.
    final func stop() {
        assertCurrent()
        progress = progress ?? ProgressWatch(at: origin.loop.now)
        // A complete request may still have to be decoded.
        if (isReady || hasReceivedEnd) && !hasStarted {
            fail(Self.stopping)
        } else if rules.waits {
            endWaiting()
        }
    }

    /// Ends the call if it waits for its client without progress, while the server stops.
    final func endIfIdle(at now: UInt64) {
        assertCurrent()
        guard isOpen else { return }
        var watch = progress ?? ProgressWatch(at: now)
        defer { progress = watch }
        // What is at work makes progress.
        let mark = waitsForClient ? traffic.bytesReceived &+ traffic.bytesSent &- unsentBytes : -1
        if watch.isIdle(mark, at: now), waitsForClient { fail(Self.stopping) }
    }

    private static var stopping: RPCError { RPCError(bare: .unavailable, "the gateway is stopping: try again") }

    // MARK: The response

    /// The bytes of the response that are not sent yet.
    final var unsentBytes: Int { stream?.unsentBytes ?? 0 }

    /// Sends a message that follows the space for its prefix.
    final func send(_ frame: [UInt8]) {
        assertCurrent()
        guard isOpen else { return }
        guard hasSpace(for: frame) else {
            return fail(RPCError.overloaded("too many responses are waiting to be read: read them first"))
        }
        traffic.messagesSent += 1
        do throws(RPCError) {
            put(try response.message(frame, context, &responseState))
        } catch {
            fail(error)
        }
    }

    /// Sends a message of any bytes without encoding it; `false` if the protocol needs it encoded.
    final func send(_ body: HttpBody) -> Bool {
        assertCurrent()
        guard isOpen else { return true }
        guard let part = response.body(body, context, &responseState) else { return false }
        traffic.messagesSent += 1
        put(part)
        return true
    }

    /// Sends a source's bytes as the whole response; `false` if the protocol or the transport cannot.
    final func send(_ source: any BodySource, as contentType: String) -> Bool {
        assertCurrent()
        guard isOpen, let stream, !responseState.hasBegun else { return false }
        var state = responseState
        guard let head = response.body(HttpBody(contentType: contentType), context, &state),
            stream.send(head, before: source)
        else { return false }
        responseState = state
        traffic.messagesSent += 1
        return true
    }

    /// Handles the end of a source.
    ///
    /// - Parameter bytes: the number of its bytes that were sent.
    package final func sourceEnded(_ bytes: Int, _ error: (any Error)?) {
        assertCurrent()
        traffic.bytesSent += bytes
        if let error { fail(error) } else { drained() }
    }

    /// Handles that the transport reads no more of a source.
    ///
    /// - Parameter bytes: the number of its bytes that were sent.
    package final func sourceStopped(_ bytes: Int) { traffic.bytesSent += bytes }

    private final func succeed() {
        guard isOpen else { return }
        put(response.success(context, &responseState))
        end(.ok, nil)
    }

    private final func fail(_ error: any Error) {
        guard isOpen else { return }
        let refusal = RPCError(error, of: context.method, policy: server.errors)
        put(response.failure(refusal, context, &responseState))
        end(refusal.status, refusal)
    }

    private final func put(_ part: ResponsePart) {
        traffic.bytesSent += part.body.count
        stream?.send(part)
    }

    /// Ends the server's part of the call, once.
    private final func end(_ status: StatusCode, _ error: RPCError?) {
        guard isOpen else { return }
        isOpen = false
        timer?.cancel()
        timer = nil
        if status != .ok {
            cancel()
            task?.cancel()
        }
        if counted > 0 {
            _ = server.metrics.requestBytesChanged(by: -counted, limit: 0)
            _ = address.requestBytes.add(-counted)
        }
        traffic.duration = origin.loop.now &- context.startedAt
        context.traffic = traffic
        metrics.ended(status, traffic)
        for index in server.interceptors.indices {
            server.interceptors[index].finished(context, status: status, error: error)
        }
        // The rest of the client's request is discarded.
        holdsRequest = false
        stream = nil
        dropRequest()
        task = nil
    }
}
