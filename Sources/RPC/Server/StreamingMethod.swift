import Wire

/// Any number of messages each way; the three streaming kinds are this one with fewer.
struct StreamingMethod<Input: Message, Output: Message>: Method {
    let descriptor: MethodDescriptor
    let metrics = MethodMetrics()
    var rules = MethodRules()
    let handler: @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void

    var messages: (input: String, output: String) { (Input.fullName, Output.fullName) }

    func driver() -> CallDriver { StreamingDriver(handler) }
}

/// Joins the call's stream to the handler's sequence and writer; flow control is the back-pressure both ways.
///
/// Sendable although it has state: that is touched on the call's loop only, where the handler runs too.
private final class StreamingDriver<Input: Message, Output: Message>: CallDriver, @unchecked Sendable {
    private struct Request: Sendable {
        let message: Input
        let wasCompressed: Bool
    }

    private let handler: @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void
    private let inbox = MessageInbox<Request>()
    private var isCancelled = false
    private var writer: CheckedContinuation<Void, any Error>?

    init(
        _ handler: @escaping @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void
    ) {
        self.handler = handler
    }

    /// The handler runs from the first, so that it takes the messages as they come.
    override func begin(_ call: ServerCall) { call.run() }

    nonisolated(nonsending) override func handle(_ call: ServerCall, _ context: CallContext) async throws {
        try await handler(
            RequestStream { [self] in try await next(of: call, context) },
            ResponseWriter { [self] message in try await write(message, to: call) },
            context)
    }

    override func receive(
        message: UnsafeRawBufferPointer, wasCompressed: Bool, for call: ServerCall
    ) throws(RPCError) {
        let request = Request(message: try Input(request: message), wasCompressed: wasCompressed)
        inbox.deliver(request, size: message.count + MessagePrefix.byteCount)
        call.holdsWindow = inbox.isFull
    }

    override var heldBytes: Int { inbox.bytes }

    override func receiveEnd(for call: ServerCall) { inbox.end() }

    override func drained() {
        writer?.resume()
        writer = nil
    }

    override func cancel() {
        isCancelled = true
        inbox.end(throwing: CancellationError())
        writer?.resume(throwing: CancellationError())
        writer = nil
    }

    private func next(of call: ServerCall, _ context: CallContext) async throws -> Input? {
        if isCancelled { throw CancellationError() }
        let request = try await inbox.next()
        if !isCancelled { call.holdsWindow = inbox.isFull }
        if let request { context.requestWasCompressed = request.wasCompressed }
        return request?.message
    }

    private func write(_ message: Output, to call: ServerCall) async throws {
        if isCancelled { throw CancellationError() }
        var frame = message.encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        call.send(frame)
        // Where the call failed by that, nothing will drain.
        if isCancelled { throw CancellationError() }
        if call.unsentBytes > MessageInbox<Request>.highWater {
            try await withCheckedThrowingContinuation { writer = $0 }
        }
    }
}
