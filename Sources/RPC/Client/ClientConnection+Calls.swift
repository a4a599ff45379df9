package import GRPCWire
package import Protobuf

extension ClientConnection {
    /// Makes a call with one request and one response message. Must be called on the connection's loop.
    package func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        let call = begin(method, request, options: options)
        return try await withTaskCancellationHandler {
            guard let reply = try await call.next() else {
                throw GRPCStatus(.internalError, "the server answered OK without a message")
            }
            // The status follows the message, and decides.
            guard try await call.next() == nil else {
                throw GRPCStatus(.internalError, "the server sent more than one message")
            }
            return try Output(reply: reply)
        } onCancel: { [loop] in
            call.cancelFromAnywhere(on: loop)
        }
    }

    /// Makes a call with one request message and any number of response messages. Must be called on the connection's loop.
    package func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        let call = begin(method, request, options: options)
        try await withTaskCancellationHandler {
            do {
                while let message = try await call.next() { try await receive(try Output(reply: message)) }
            } catch {
                call.cancel()
                throw error
            }
        } onCancel: { [loop] in
            call.cancelFromAnywhere(on: loop)
        }
    }

    private func begin(_ method: MethodDescriptor, _ request: some Message, options: CallOptions) -> ClientCall {
        var frame = request.encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        let call = ClientCall(on: self)
        start(call, method, message: frame, options: options)
        return call
    }
}

extension ClientCall {
    fileprivate func cancelFromAnywhere(on loop: any CallLoop) {
        Task(executorPreference: loop.executor) { self.cancel() }
    }
}

extension Message {
    fileprivate init(reply bytes: [UInt8]) throws {
        do {
            try self.init(decoding: bytes)
        } catch {
            throw GRPCStatus(.internalError, "the reply is not a valid \(Self.fullName): \(error)")
        }
    }
}
