import Wire

/// One call at the server: gRPC's rules on an HTTP/2 stream, between the session and the method's driver.
///
/// Sendable although it has state: that is touched on its connection's loop only, where its handler runs too.
final class ServerCall: HTTP2Stream, @unchecked Sendable {
    private enum State {
        /// The header section is arriving.
        case head
        /// The handler has the call; whether the response's header section was sent.
        case open(CallContext, hasResponded: Bool)
        /// The status was sent, or the stream is gone.
        case ended
    }

    /// Owns the session that owns this stream, until the stream is closed.
    private let connection: ServerConnection
    private let server: RPCServer
    private var state = State.head
    private var head = RequestHead()
    private var deframer: MessageDeframer
    private var driver: CallDriver?
    /// What the handler runs in.
    private var task: HandlerTask?
    /// What its handler holds of the listener's limits.
    private var place: CallPlace?
    /// The share of the caller's address, where a proxy has passed the call on.
    private var proxied: AddressShare?
    private var messageLimit: Int
    private var timer: LoopTimer?
    private var traffic = CallTraffic()
    private var unconsumed = 0
    /// Since when a message arrives, at most one stretch ago, and what had been received then.
    private var arriving: (since: UInt64, received: Int)?
    /// What the listener has counted as held by this call, in bytes.
    private var counted = 0
    /// How this response's messages can be compressed: what its header section announced.
    private var responseEncoding: MessageEncoding?
    /// Bytes of the request that came after the end of the response, and how many may before it is broken off.
    private var lingered = 0
    private static let longestLingering = 16 << 20

    /// While true, bytes that arrive do not open the window again: the handler is behind.
    var holdsWindow = false {
        didSet { if !holdsWindow { consumeArrived() } }
    }

    init(connection: ServerConnection) {
        self.connection = connection
        server = connection.server
        messageLimit = connection.server.limits.maxMessageSize
        deframer = MessageDeframer(limit: messageLimit)
    }

    /// The method's path, for messages.
    var path: String {
        if case .open(let context, _) = state { context.method.path } else { "" }
    }

    // MARK: what arrives

    override func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        guard case .head = state else { return }
        head.add(name, value, server: server)
    }

    override func receiveHeadersEnd(isTrailers: Bool) {
        guard case .head = state else { return }
        if head.fault == .tooLarge { connection.refusedHeaders() }
        if !head.isGRPC, let refusal = head.findFront(for: server) {
            state = .ended
            note(RefusedRequest.Reason(httpStatus: refusal.httpStatus))
            put(refusal)
            return
        }
        if let status = head.fault.httpStatus {
            state = .ended
            note(RefusedRequest.Reason(httpStatus: "\(status)"))
            respondAndFinish(ResponseHeaders.http(status))
            return
        }
        guard let method = head.method else {
            state = .ended
            note(.unknownMethod)
            let path = head.unknownPath.prefix(200)
            respondAndFinish(
                ResponseHeaders.trailersOnly(.unimplemented("there is no method \(path) at this listener")))
            return
        }
        if let limit = method.rules.maximumRequest {
            messageLimit = limit
            deframer = MessageDeframer(limit: limit)
        }
        let now = connection.loop.now
        let deadline = head.timeout.map { now &+ UInt64($0) }
        let context = CallContext(
            method: method.descriptor, metadata: head.metadata, peer: connection.peer,
            clientCertificate: connection.clientCertificate, startedAt: now, deadline: deadline,
            requestID: head.requestID, trace: head.trace)
        context.mayWait = connection.mayWait
        method.metrics.started()
        do throws(RPCError) {
            if let fault = head.front?.request.fault { throw fault }
            try head.fault.check()
            guard head.front != nil || head.takesTrailers else {
                throw .malformedCall("the request lacks te: trailers; does a proxy drop trailers?")
            }
            for interceptor in server.interceptors { try interceptor.admit(context) }
        } catch {
            state = .open(context, hasResponded: false)
            fail(error)
            return
        }
        if context.peer.host != connection.peer.host { proxied = server.addresses.share(of: context.peer.host) }
        state = .open(context, hasResponded: false)
        if let deadline {
            timer = connection.loop.schedule(at: deadline) { [self] in
                fail(RPCError(bare: .deadlineExceeded, "the call took longer than its client gave it"))
            }
        }
        let driver = method.driver()
        self.driver = driver
        driver.begin(self)
    }

    /// Counts a request that is no call, and tells of it.
    private func note(_ reason: RefusedRequest.Reason?) {
        guard let reason else { return }
        server.metrics.requestRefused(reason)
        let path = head.method?.descriptor.path ?? String(head.unknownPath.prefix { $0 != "?" }.prefix(200))
        let request = RefusedRequest(reason: reason, path: path, peer: connection.peer, requestID: head.requestID)
        for interceptor in server.interceptors { interceptor.refused(request) }
    }

    override func receive(data: UnsafeRawBufferPointer) {
        unconsumed += data.count
        traffic.bytesReceived += data.count
        if let driver {
            if let front = head.front {
                receive(data, by: front, for: driver)
            } else {
                do throws(MessageDeframer.Failure) {
                    try deframer.receive(data) { [self] message, isCompressed in
                        deliver(message, isCompressed: isCompressed, to: driver)
                    }
                } catch {
                    fail(error.rpcError)
                }
            }
            countHeld()
            if case .ended = state { deframer = MessageDeframer(limit: 0) }
        } else if lingers {
            lingered += data.count
            if lingered > Self.longestLingering { reset(.noError) }
        }
        if !holdsWindow { consumeArrived() }
    }

    /// One client may hold as many messages, unfinished or inflated from a few bytes, as it has streams: there is a bound
    /// on what all of a listener's hold. What is small is not worth the count.
    private func countHeld() {
        guard case .open = state else { return }
        let held = (head.front?.heldBytes ?? deframer.gatheredBytes) + (driver?.heldBytes ?? 0)
        let change = (held > 4096 ? held : 0) - counted
        guard change != 0 else { return }
        counted += change
        let limits = server.limits
        let listenerHasRoom = server.metrics.requestBytesChanged(by: change, limit: limits.maxRequestBytes)
        let addressHasRoom = address.requestBytes.add(change, limit: limits.maxRequestBytesPerAddress)
        guard change > 0, !listenerHasRoom || !addressHasRoom else { return }
        server.metrics.limitReached(listenerHasRoom ? "request_bytes_per_address" : "request_bytes")
        fail(RPCError.overloaded("the calls under way hold too many bytes of requests"))
    }

    /// Ends the call where a message that has begun to arrive comes more slowly than clients have to send.
    func checkRate(at now: UInt64) {
        guard case .open = state, !hasReceivedEnd, !holdsWindow,
            (head.front?.heldBytes ?? deframer.gatheredBytes) > 0
        else {
            arriving = nil
            return
        }
        let limits = server.limits.lifecycle
        guard let start = arriving else { return arriving = (now, traffic.bytesReceived) }
        let elapsed = now - start.since
        guard elapsed >= limits.stall else { return }
        let least = Double(limits.minimumRate) * Double(elapsed) / 1e9
        if Double(traffic.bytesReceived - start.received) >= least { return arriving = (now, traffic.bytesReceived) }
        server.metrics.limitReached("slow_request")
        fail(RPCError.overloaded("the request arrives more slowly than \(limits.minimumRate) bytes a second"))
    }

    private func deliver(_ message: UnsafeRawBufferPointer, isCompressed: Bool, to driver: CallDriver) {
        guard case .open = state else { return }
        traffic.messagesReceived += 1
        do throws(RPCError) {
            if isCompressed {
                try decompress(message).withUnsafeBufferPointer { (bytes) throws(RPCError) in
                    try hand(UnsafeRawBufferPointer(bytes), wasCompressed: true, to: driver)
                }
            } else {
                try hand(message, wasCompressed: false, to: driver)
            }
        } catch {
            fail(error)
        }
    }

    private func hand(
        _ message: UnsafeRawBufferPointer, wasCompressed: Bool, to driver: CallDriver
    ) throws(RPCError) {
        guard let decoded = try head.front?.request.codec.decode(message) else {
            return try driver.receive(message: message, wasCompressed: wasCompressed, for: self)
        }
        try decoded.withUnsafeBufferPointer { (bytes) throws(RPCError) in
            try driver.receive(message: UnsafeRawBufferPointer(bytes), wasCompressed: wasCompressed, for: self)
        }
    }

    private func decompress(_ message: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8] {
        guard let encoding = head.encoding else {
            throw .malformedCall("a message is compressed, and no header field says how")
        }
        do {
            return try encoding.decompress(message, limit: messageLimit)
        } catch {
            throw error.rpcError
        }
    }

    override func receiveEnd() {
        guard case .open = state, let driver else { return }
        do throws(RPCError) {
            if let front = head.front {
                try front.receiveEnd { [self] in deliver($0, isCompressed: $1, to: driver) }
                guard case .open = state else { return }
            } else if deframer.isWithinMessage {
                throw .invalidRequest("the request ends within a message")
            }
            driver.receiveEnd(for: self)
        } catch {
            fail(error)
        }
    }

    override func drained() { driver?.drained() }

    override func closed(code: UInt32) {
        // What was never read counts against the connection's window, which the other streams need.
        consumeArrived()
        end(.cancelled, nil)
    }

    private func consumeArrived() {
        guard unconsumed > 0 else { return }
        consume(unconsumed)
        unconsumed = 0
    }

    // MARK: the handler

    /// Has the handler run; it sends its messages, and its return or throw ends the call.
    func run() {
        guard case .open(let context, _) = state else { return }
        let waits = head.method?.rules.waits ?? false
        do throws(CallPlace.Refusal) {
            place = try CallPlace(waits: waits, on: connection, of: address)
        } catch {
            server.metrics.limitReached(error.limit)
            fail(RPCError.overloaded(error.message))
            return
        }
        if waits { limitWaiting(context) }
        connection.handlers += 1
        connection.loop.handlerTasks.run(self)
    }

    /// The share of the caller's address: the connection's, unless a proxy has passed the call on.
    private var address: AddressShare { proxied ?? connection.address }

    override func unsentBytesChanged(by change: Int) { connection.responseBytesChanged(by: change, of: address) }

    /// Whether an answer may wait to be sent. What is small may always, and a stream waits for its client by itself.
    private func hasRoom(for frame: [UInt8], _ method: MethodDescriptor) -> Bool {
        guard frame.count > 4096, method.kind == .unary || method.kind == .clientStreaming else { return true }
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

    /// Ends a call that waits in order when its time is over, where its client did not set an earlier deadline.
    private func limitWaiting(_ context: CallContext) {
        let end = connection.loop.now &+ server.limits.waiting.lifetime
        if let deadline = context.deadline, deadline <= end { return }
        timer?.cancel()
        timer = connection.loop.schedule(at: end) { [self] in
            let (driver, task) = (driver, task)
            succeed()
            driver?.cancel()
            task?.cancel()
        }
    }

    /// Whether the handler may begin now. If not, the connection runs it later.
    func mayBegin() -> Bool { connection.mayBegin(self) }

    /// Runs the handler, unless the call is over already.
    nonisolated(nonsending) func handle(in task: HandlerTask) async {
        if case .open(let context, _) = state, let driver {
            self.task = task
            do {
                try await driver.handle(self, context)
                self.task = nil
                succeed()
            } catch {
                self.task = nil
                fail(error)
            }
        }
        connection.handlers -= 1
        place.take()?.leave(connection)
    }

    /// Sends a message that has its prefix, after the response's header section.
    func send(_ frame: [UInt8]) {
        guard case .open(let context, let hasResponded) = state else { return }
        guard hasRoom(for: frame, context.method) else {
            return fail(RPCError.overloaded("too many answers wait to be read: read them first"))
        }
        traffic.messagesSent += 1
        if let front = head.front { return send(frame, by: front, context) }
        if !hasResponded {
            if context.compressesResponses || context.mayCompressLater { responseEncoding = head.accepted.first }
            respond(ResponseHeaders.ok(responseEncoding, context.responseMetadata))
            state = .open(context, hasResponded: true)
        }
        if context.compressesResponses, let responseEncoding {
            writeBody(compressed(frame, responseEncoding))
        } else {
            writeBody(frame)
        }
    }

    private func writeBody(_ bytes: [UInt8]) {
        traffic.bytesSent += bytes.count
        write(bytes)
    }

    private func compressed(_ frame: [UInt8], _ encoding: MessageEncoding) -> [UInt8] {
        let message = frame.withUnsafeBytes {
            encoding.compress(UnsafeRawBufferPointer(rebasing: $0[MessagePrefix.byteCount...]))
        }
        var frame = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + message
        MessagePrefix.write(to: &frame, compressed: true)
        return frame
    }

    private func succeed() {
        guard case .open(let context, let hasResponded) = state else { return }
        if let front = head.front {
            put(front.success(context))
            return end(.ok, nil)
        }
        if !hasResponded { respond(ResponseHeaders.ok(nil, context.responseMetadata)) }
        finish(ResponseHeaders.okTrailers(context.trailingMetadata))
        end(.ok, nil)
    }

    private func fail(_ error: any Error) {
        guard case .open(let context, let hasResponded) = state else { return }
        let refusal = RPCError(error, of: context.method, policy: server.errors)
        if let front = head.front {
            put(front.failure(refusal, context))
        } else if hasResponded {
            finish(ResponseHeaders.trailers(refusal, context.trailingMetadata))
        } else if !context.responseMetadata.isEmpty {
            // In a Trailers-Only response they would arrive as trailers.
            respond(ResponseHeaders.ok(nil, context.responseMetadata))
            finish(ResponseHeaders.trailers(refusal, context.trailingMetadata))
        } else {
            respondAndFinish(ResponseHeaders.trailersOnly(refusal, context.trailingMetadata))
        }
        end(refusal.status, error is RPCError ? refusal : error)
    }

    // MARK: another front than gRPC's

    private func receive(_ data: UnsafeRawBufferPointer, by front: CallFront, for driver: CallDriver) {
        do throws(RPCError) {
            try front.receive(data) { [self] in deliver($0, isCompressed: $1, to: driver) }
        } catch {
            fail(error)
        }
    }

    private func send(_ frame: [UInt8], by front: CallFront, _ context: CallContext) {
        do throws(RPCError) {
            put(try front.reply(to: frame, context))
        } catch {
            fail(error)
        }
    }

    private func put(_ reply: CallFront.Reply) {
        if let head = reply.head { respond(HeaderBlock(head)) }
        writeBody(reply.body)
        if reply.isLast {
            lingers = true
            finish()
        }
    }

    /// Ends our part of the call, once.
    private func end(_ status: StatusCode, _ error: (any Error)?) {
        timer?.cancel()
        timer = nil
        if case .open(let context, _) = state {
            state = .ended
            if status != .ok {
                driver?.cancel()
                task?.cancel()
            }
            _ = server.metrics.requestBytesChanged(by: -counted, limit: 0)
            _ = address.requestBytes.add(-counted)
            traffic.duration = connection.loop.now &- context.startedAt
            context.traffic = traffic
            head.method?.metrics.ended(status, traffic)
            for interceptor in server.interceptors {
                interceptor.finished(context, status: status, error: error)
            }
        }
        state = .ended
        // It may hold a message, and the stream may stay open.
        head.front = nil
        driver = nil
        task = nil
    }
}

extension RequestHead.Fault {
    /// The HTTP status for a request that is no call at all.
    fileprivate var httpStatus: Int? {
        switch self {
        case .tooLarge: 431
        case .notPost: 405
        default: nil
        }
    }

    fileprivate func check() throws(RPCError) {
        switch self {
        case .badTimeout:
            throw .invalidRequest("grpc-timeout must be 1 to 8 digits and one of n, u, m, S, M, H")
        case .encoding:
            throw .unimplemented("grpc-encoding must be identity, gzip or deflate")
        case .none, .tooLarge, .notPost:
            break
        }
    }
}
