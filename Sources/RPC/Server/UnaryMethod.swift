import Basics
import GRPCWire
import Protobuf

/// A method with one request and one response message: the common case, optimised for speed.
final class UnaryMethod<Input: Message, Output: Message>: Method {
    let descriptor: MethodDescriptor
    let metrics: MethodMetrics
    let rules: MethodRules
    let handler: @Sendable (Input, CallContext) async throws -> Output

    init(
        descriptor: MethodDescriptor, metrics: MethodMetrics = MethodMetrics(), rules: MethodRules = MethodRules(),
        handler: @escaping @Sendable (Input, CallContext) async throws -> Output
    ) {
        self.descriptor = descriptor
        self.metrics = metrics
        self.rules = rules
        self.handler = handler
    }

    func with(_ rules: MethodRules) -> any Method {
        UnaryMethod(descriptor: descriptor, metrics: metrics, rules: rules, handler: handler)
    }

    var messages: (input: String, output: String) { (Input.fullName, Output.fullName) }

    func call(_ setup: consuming CallSetup) -> ServerCall { UnaryCall(self, setup) }
}

/// Decodes the message in place, and starts the handler when the client has sent everything.
///
/// Sendable like every call: its state is used on the call's loop only.
private final class UnaryCall<Input: Message, Output: Message>: ServerCall, @unchecked Sendable {  // as ServerCall
    private let handler: @Sendable (Input, CallContext) async throws -> Output
    /// The received message; not an optional, because its metadata would be looked up at every use.
    private var input = Input()
    /// Whether a message was received that the handler has not taken.
    private var hasInput = false
    private var wasCompressed = false
    private var size = 0

    init(_ method: UnaryMethod<Input, Output>, _ setup: consuming CallSetup) {
        handler = method.handler
        super.init(setup, rules: method.rules, metrics: method.metrics)
    }

    override func received(_ message: UnsafeRawBufferPointer, wasCompressed: Bool) throws(RPCError) {
        guard !hasInput else { throw .invalidRequest("\(context.method.path) takes one message") }
        do throws(DecodingError) {
            try input.merge(decoding: message, permitsNullCharacter: false)
        } catch {
            throw invalid(message, Input.fullName, error)
        }
        hasInput = true
        self.wasCompressed = wasCompressed
        size = message.count
    }

    override var heldMessageBytes: Int { size }

    override func receivedAll() { becomeReady() }

    nonisolated(nonsending) override func handle() async throws {
        assertCurrent()
        guard hasInput else { throw RPCError.invalidRequest("\(context.method.path) takes one message") }
        context.requestWasCompressed = wasCompressed
        var frame = try await respond(takeInput(), context).encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        send(frame)
    }

    private func takeInput() -> Input {
        var taken = Input()
        swap(&taken, &input)
        hasInput = false
        return taken
    }

    nonisolated(nonsending) private func respond(_ request: Input, _ context: CallContext) async throws -> Output {
        guard let owner = context.workOwner else { return try await handler(request, context) }
        return try await WorkOwner.$current.withValue(owner) { try await handler(request, context) }
    }

    override func dropMessages() {
        if hasInput { input = Input() }
    }
}
