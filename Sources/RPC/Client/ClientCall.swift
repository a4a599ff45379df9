import Basics
import GRPCWire
import HTTP2

/// One call of a client: collects the response messages, and the status at its end.
///
/// Sendable although it is mutable: its state is used on its connection's loop only, where its reader runs too.
final class ClientCall: HTTP2Stream, @unchecked Sendable {  // state belongs to its loop
    private weak var connection: ClientConnection?
    private let inbox = MessageInbox<[UInt8]>()
    private var deframer = MessageDeframer(limit: ClientConnection.maxMessageSize)
    private var httpStatus = ""
    private var code: StatusCode?
    private var message = ""
    private var details: [UInt8]?
    private var retryAfterMilliseconds: Int?
    private var failure: GRPCStatus?
    private var unconsumed = 0
    private var timer: LoopTimer?

    init(on connection: ClientConnection) {
        self.connection = connection
    }

    // MARK: Received data

    override func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        switch String(decoding: name, as: UTF8.self) {
        case ":status":
            httpStatus = String(decoding: value, as: UTF8.self)
        case "grpc-status":
            code = Int(String(decoding: value, as: UTF8.self)).flatMap(StatusCode.init(rawValue:)) ?? .unknown
        case "grpc-message":
            message = PercentEncoding.decode(value)
        case "grpc-status-details-bin":
            details = Base64.decode(String(decoding: value, as: UTF8.self))
        case "retry-after-ms":
            retryAfterMilliseconds = Int(String(decoding: value, as: UTF8.self)).flatMap { $0 < 0 ? nil : $0 }
        default:
            break
        }
    }

    override func receive(data: UnsafeRawBufferPointer) {
        assertCurrent()
        unconsumed += data.count
        do throws(MessageDeframer.Failure) {
            try deframer.receive(data) { [self] message, isCompressed in
                if isCompressed {
                    abort(GRPCStatus(.internalError, "the server compressed a message without being asked"))
                } else {
                    inbox.deliver([UInt8](message), size: message.count + MessagePrefix.byteCount)
                }
            }
        } catch {
            abort(GRPCStatus(error.rpcError.status, error.rpcError.message))
        }
        openWindow()
    }

    override func closed(code reset: UInt32) {
        assertCurrent()
        timer?.cancel()
        // Unread bytes count against the connection's window, which other calls need.
        if unconsumed > 0 { consume(unconsumed) }
        unconsumed = 0
        let status = failure ?? finalStatus(reset)
        inbox.end(throwing: status.code == .ok ? nil : status)
    }

    private func finalStatus(_ reset: UInt32) -> GRPCStatus {
        if let code {
            return GRPCStatus(code, message, details: details, retryAfterMilliseconds: retryAfterMilliseconds)
        }
        if !httpStatus.isEmpty && httpStatus != "200" {
            return GRPCStatus(.unknown, "the server answered HTTP \(httpStatus) instead of a gRPC status")
        }
        if let failure = connection?.failure { return GRPCStatus(.unavailable, failure.description) }
        let reason =
            switch connection?.negotiatedHTTP2 {
            case nil:
                "it closed the connection without an answer: use https:// if the listener uses TLS, else check the port"
            case false?: "it answers with HTTP/1 instead of gRPC: check the port"
            case true?: Self.reason(reset)
            }
        return GRPCStatus(.unavailable, reason)
    }

    private static func reason(_ reset: UInt32) -> String {
        switch HTTP2ErrorCode(rawValue: reset) {
        case .noError?, .cancel?: "the connection ended before the reply"
        case .refusedStream?: "the connection ended before the call was accepted"
        case let code?: "the server reset the call (\(code.name))"
        case nil: "the server reset the call (HTTP/2 error \(reset))"
        }
    }

    private func abort(_ status: GRPCStatus) {
        guard failure == nil else { return }
        failure = status
        reset(.cancel)
    }

    private func openWindow() {
        guard !inbox.isFull, unconsumed > 0 else { return }
        consume(unconsumed)
        unconsumed = 0
    }

    // MARK: For the caller

    func watch(deadline: UInt64, on loop: any CallLoop) {
        timer = loop.schedule(at: deadline) { [weak self] in
            self?.abort(GRPCStatus(.deadlineExceeded, "the server did not answer within the time limit"))
        }
    }

    func cancel() {
        assertCurrent()
        abort(GRPCStatus(.cancelled, "the call was canceled"))
    }

    private func assertCurrent() { connection?.loop.assertCurrent() }

    /// Returns the next message, `nil` after the last; throws the status if it is not OK.
    func next() async throws -> [UInt8]? {
        assertCurrent()
        let message = try await inbox.next()
        openWindow()
        return message
    }
}
