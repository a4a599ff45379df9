import Basics
import Wire

/// One message in, one message out: the common case, and the fast one.
struct UnaryMethod<Input: Message, Output: Message>: Method {
    let descriptor: MethodDescriptor
    let metrics = MethodMetrics()
    var rules = MethodRules()
    let handler: @Sendable (Input, CallContext) async throws -> Output

    var messages: (input: String, output: String) { (Input.fullName, Output.fullName) }

    func driver() -> CallDriver { UnaryDriver(handler) }
}

/// Decodes the message where it lies, and starts the handler when the client has sent all.
private final class UnaryDriver<Input: Message, Output: Message>: CallDriver {
    private let handler: @Sendable (Input, CallContext) async throws -> Output
    /// What came; not an optional, whose metadata would be looked up at every use.
    private var input = Input()
    private var hasInput = false
    private var wasCompressed = false
    private var size = 0

    init(_ handler: @escaping @Sendable (Input, CallContext) async throws -> Output) {
        self.handler = handler
    }

    override func receive(
        message: UnsafeRawBufferPointer, wasCompressed: Bool, for call: ServerCall
    ) throws(RPCError) {
        guard !hasInput else { throw .invalidRequest("\(call.path) takes one message") }
        try input.merge(request: message)
        hasInput = true
        self.wasCompressed = wasCompressed
        size = message.count
    }

    override var heldBytes: Int { size }

    override func receiveEnd(for call: ServerCall) { call.run() }

    nonisolated(nonsending) override func handle(_ call: ServerCall, _ context: CallContext) async throws {
        guard hasInput else { throw RPCError.invalidRequest("\(context.method.path) takes one message") }
        context.requestWasCompressed = wasCompressed
        var request = Input()
        swap(&request, &input)
        var frame = try await answer(request, context).encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        call.send(frame)
    }

    nonisolated(nonsending) private func answer(_ request: Input, _ context: CallContext) async throws -> Output {
        guard let owner = context.workOwner else { return try await handler(request, context) }
        return try await WorkOwner.$current.withValue(owner) { try await handler(request, context) }
    }
}

extension Message {
    /// Decodes what a client sent.
    init(request bytes: UnsafeRawBufferPointer) throws(RPCError) {
        self.init()
        try merge(request: bytes)
    }

    /// Decodes what a client sent, into a message without a field set.
    fileprivate mutating func merge(request bytes: UnsafeRawBufferPointer) throws(RPCError) {
        do {
            try merge(decoding: bytes)
        } catch {
            throw .invalidRequest("the request is no valid \(Self.fullName): \(error)")
        }
    }
}
