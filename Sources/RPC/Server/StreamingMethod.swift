import Basics
import CommonProto
import GRPCWire
import Protobuf

/// A method with any number of messages in both directions; the three streaming kinds are this one with fewer.
final class StreamingMethod<Input: Message, Output: Message>: Method {
    let descriptor: MethodDescriptor
    let metrics: MethodMetrics
    let rules: MethodRules
    let handler: @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void

    init(
        descriptor: MethodDescriptor, metrics: MethodMetrics = MethodMetrics(), rules: MethodRules = MethodRules(),
        handler: @escaping @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void
    ) {
        self.descriptor = descriptor
        self.metrics = metrics
        self.rules = rules
        self.handler = handler
    }

    func with(_ rules: MethodRules) -> any Method {
        StreamingMethod(descriptor: descriptor, metrics: metrics, rules: rules, handler: handler)
    }

    var messages: (input: String, output: String) { (Input.fullName, Output.fullName) }

    func call(_ setup: consuming CallSetup) -> ServerCall { StreamingCall(self, setup) }
}

/// Connects the call's stream to the handler's sequence and writer; flow control is the back-pressure in both directions.
///
/// Sendable although it is mutable: its state is used on the call's loop only, where the handler runs too.
private final class StreamingCall<Input: Message, Output: Message>: ServerCall, @unchecked Sendable {  // as ServerCall
    private struct Request: Sendable {
        let message: Input
        let wasCompressed: Bool
    }

    private let handler: @Sendable (RequestStream<Input>, ResponseWriter<Output>, CallContext) async throws -> Void
    private let inbox = MessageInbox<Request>()
    private var isCancelled = false
    private var writer: CheckedContinuation<Void, any Error>?

    init(_ method: StreamingMethod<Input, Output>, _ setup: consuming CallSetup) {
        handler = method.handler
        super.init(setup, rules: method.rules, metrics: method.metrics)
    }

    /// Starts the handler at once, so that it takes messages as they arrive.
    override func admitted() { becomeReady() }

    nonisolated(nonsending) override func handle() async throws {
        context.bodySender = { [self] in try await write($0, $1) }
        // The context belongs to the call.
        defer { context.bodySender = nil }
        try await WorkOwner.$current.withValue(context.workOwner) {
            try await handler(
                RequestStream { [self] in try await next() }, ResponseWriter { [self] in try await write($0) }, context)
        }
    }

    override func received(_ message: UnsafeRawBufferPointer, wasCompressed: Bool) throws(RPCError) {
        var input = Input()
        do throws(DecodingError) {
            try input.merge(decoding: message, permitsNullCharacter: false)
        } catch {
            throw invalid(message, Input.fullName, error)
        }
        let request = Request(message: input, wasCompressed: wasCompressed)
        inbox.deliver(request, size: message.count + MessagePrefix.byteCount)
        holdsRequest = isBehind
    }

    override var isBehind: Bool { inbox.isFull }

    override var heldMessageBytes: Int { inbox.bytes }

    override func receivedAll() { inbox.end() }

    override var waitsForClient: Bool { super.waitsForClient || inbox.isAwaited || writer != nil }

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

    override func dropMessages() { inbox.drop() }

    private func next() async throws -> Input? {
        assertCurrent()
        if isCancelled { throw CancellationError() }
        let request = try await inbox.next()
        if !isCancelled { holdsRequest = inbox.isFull }
        if let request { context.requestWasCompressed = request.wasCompressed }
        return request?.message
    }

    private func write(_ message: Output) async throws {
        assertCurrent()
        if isCancelled { throw CancellationError() }
        if let body = message as? HttpBody, send(body) {
            // Sent.
        } else {
            var frame = message.encoded(reserving: MessagePrefix.byteCount)
            MessagePrefix.write(to: &frame)
            send(frame)
        }
        // If sending failed the call, nothing will be drained.
        if isCancelled { throw CancellationError() }
        if unsentBytes > MessageInbox<Request>.highWater {
            try await withCheckedThrowingContinuation { writer = $0 }
        }
    }

    private func write(_ source: any BodySource, _ contentType: String) async throws -> Bool {
        assertCurrent()
        if isCancelled { throw CancellationError() }
        guard send(source, as: contentType) else { return false }
        try await withCheckedThrowingContinuation { writer = $0 }
        return true
    }
}
