import Basics
package import GRPCWire
import HTTP2
package import Protobuf

/// The client side of a connection.
package final class ClientConnection: ConnectionProtocol, HTTP2SessionHost {
    /// The largest response message, in bytes.
    static let maxMessageSize = 64 * 1024 * 1024

    /// The program, by which people recognize their sessions.
    private static let userAgent = Array("data-gateway/\(ProgramVersion.current)".utf8)

    let loop: any CallLoop
    private let authority: String
    private let scheme: String
    package var onOutput: () -> Void = {}
    package var onSpace: () -> Void = {}
    private var session: HTTP2Session?
    private var isClosing = false
    /// The reason for the loss of the connection, if known.
    private(set) var failure: ConnectionError?
    /// Whether the server answers with HTTP/2; `nil` = it has not sent anything yet.
    private(set) var negotiatedHTTP2: Bool?

    /// - Parameter authority: the value of `:authority`, `HOST:PORT`.
    package init(loop: any CallLoop, authority: String, isSecure: Bool = false) {
        self.loop = loop
        self.authority = authority
        scheme = isSecure ? "https" : "http"
        session = HTTP2Session(role: .client, host: self)
    }

    package var lane: Lane { loop.turns.gateway }

    package var receivesWhileSending: Bool { true }

    package func receive(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) -> Reception {
        // The HTTP/2 library takes the status line of HTTP/1 for a frame that is too long.
        if negotiatedHTTP2 == nil { negotiatedHTTP2 = !bytes.starts(with: "HTTP/1".utf8) }
        do {
            _ = try session?.receive(bytes)
        } catch {
            throw ConnectionError(error.description)
        }
        return .complete
    }

    package func continueReceiving() -> Reception { .complete }

    package func nextOutput() throws(ConnectionError) -> UnsafeRawBufferPointer? {
        try session?.connectionOutput()
    }

    package var isFinished: Bool {
        guard let session else { return true }
        return session.isFinished || (isClosing && session.activeStreams == 0)
    }

    package func shutDown() {
        isClosing = true
        session?.submitGoAway()
    }

    package func connectionLost(_ reason: ConnectionError?) {
        failure = reason
        session?.abandon()
        session = nil
    }

    package var isAborted: Bool { false }

    package func socketBlocked(_ isBlocked: Bool) {}

    package var now: UInt64 { loop.now }

    package func outputPending() { onOutput() }

    package func receivedGoAway() { isClosing = true }

    /// Starts a call with one request message; its outcome is read from the call.
    func start(_ call: ClientCall, _ method: MethodDescriptor, message: [UInt8], options: CallOptions) {
        var headers: [(name: String, value: [UInt8])] = [
            (":method", Array("POST".utf8)), (":scheme", Array(scheme.utf8)), (":path", Array(method.path.utf8)),
            (":authority", Array(authority.utf8)), ("content-type", Array("application/grpc".utf8)),
            ("te", Array("trailers".utf8)), ("user-agent", Self.userAgent),
        ]
        if let timeout = options.timeout {
            headers.append(("grpc-timeout", Array(GRPCTimeout.format(nanoseconds: timeout.nanoseconds).utf8)))
        }
        for (name, value) in options.metadata { headers.append((name, Array(value.utf8))) }
        guard let session, !isClosing, session.open(call, HeaderBlock(headers), hasBody: true) else {
            call.closed(code: HTTP2ErrorCode.refusedStream.rawValue)
            return
        }
        call.write(message)
        call.finish()
        if let timeout = options.timeout {
            call.watch(deadline: loop.now &+ timeout.loopTime, on: loop)
        }
    }
}

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
