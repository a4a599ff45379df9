import Wire

/// One message in, one message out: the common case, and the fast one.
struct UnaryMethod<Input: Message, Output: Message>: Method {
    let descriptor: MethodDescriptor
    let handler: @Sendable (Input, CallContext) async throws -> Output

    var messages: (input: String, output: String) { (Input.fullName, Output.fullName) }

    func drive(_ call: ServerCall) -> CallDriver {
        UnaryDriver(call: call, handler: handler)
    }
}

/// Decodes the message where it lies, and starts the handler when the client has sent all.
private final class UnaryDriver<Input: Message, Output: Message>: CallDriver {
    /// Owns this driver.
    private unowned let call: ServerCall
    private let handler: @Sendable (Input, CallContext) async throws -> Output
    private var input: Input?
    private var wasCompressed = false
    private var size = 0

    init(call: ServerCall, handler: @escaping @Sendable (Input, CallContext) async throws -> Output) {
        self.call = call
        self.handler = handler
    }

    override func receive(message: UnsafeRawBufferPointer, wasCompressed: Bool) throws(RPCError) {
        guard input == nil else { throw .invalidArgument("\(call.path) takes one message") }
        input = try Input(request: message)
        self.wasCompressed = wasCompressed
        size = message.count
    }

    override var heldBytes: Int { size }

    override func receiveEnd() throws(RPCError) {
        guard let input else { throw .invalidArgument("\(call.path) takes one message") }
        self.input = nil
        call.run { [handler, wasCompressed] call, context in
            context.requestWasCompressed = wasCompressed
            var frame = try await handler(input, context).encoded(reserving: MessagePrefix.byteCount)
            MessagePrefix.write(to: &frame)
            call.send(frame)
        }
    }
}

extension Message {
    /// Decodes what a client sent.
    init(request bytes: UnsafeRawBufferPointer) throws(RPCError) {
        do {
            try self.init(decoding: bytes)
        } catch {
            throw .invalidArgument("the request is no valid \(Self.fullName): \(error)")
        }
    }
}
