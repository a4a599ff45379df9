import GRPCWire

/// Connect's unary responses: the body is the message, the status is the HTTP status, and an error is JSON with any codec (Connect
/// protocol, "Unary-Request" and "Unary-Response").
final class ConnectUnaryEncoder: ResponseEncoder {
    private let form: WebResponseForm
    private var message: [UInt8] = []

    init(_ form: WebResponseForm) {
        self.form = form
    }

    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        message = try form.message(frame)
        // Trailers are sent as header fields, before the message.
        return ResponsePart()
    }

    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        var more = Self.trailers(context)
        if context.compressesResponses, let encoding = form.accepted {
            message = message.withUnsafeBytes { encoding.compress($0) }
            more.append(("content-encoding", encoding.rawValue))
        }
        return ResponsePart(head: form.head(more, context.leadingMetadata), body: message, end: .body)
    }

    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        let more = context.leadingMetadata.pairs + Self.trailers(context)
        return Self.failure(
            error, status: error.status.httpStatus, ResponseSection.fields(more) + form.crossOrigin)
    }

    private static func trailers(_ context: CallContext) -> [(name: String, value: String)] {
        context.trailingMetadata.pairs.map { ("trailer-\($0.name)", $0.value) }
    }

    static func failure(_ error: RPCError, status: Int, _ more: ResponseSection.Fields) -> ResponsePart {
        var fields = [("content-type", "application/json")]
        if let milliseconds = error.retryAfterMilliseconds { fields.append(("retry-after-ms", "\(milliseconds)")) }
        if error.status == .unimplemented { fields.append(("accept-encoding", MessageEncoding.offered)) }
        return ResponsePart(
            head: .made(status: status, ResponseSection.fields(fields) + more), body: error.connect.json,
            end: .body)
    }
}

/// Connect's streaming responses: messages with prefixes, the last of which carries the status; the HTTP status is always 200
/// (Connect protocol, "Streaming-Request" and "Streaming-Response").
final class ConnectStreamEncoder: ResponseEncoder {
    private let response: FramedWebResponse

    init(_ form: WebResponseForm) {
        response = FramedWebResponse(form, encodingField: "connect-content-encoding")
    }

    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        try response.part(frame, context, &state)
    }

    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        end(nil, context.trailingMetadata, context, &state)
    }

    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        var metadata = context.trailingMetadata
        if let milliseconds = error.retryAfterMilliseconds {
            metadata.append(name: "retry-after-ms", value: "\(milliseconds)")
        }
        return end(error.connect, metadata, context, &state)
    }

    private func end(
        _ error: ConnectError?, _ metadata: Metadata, _ context: CallContext, _ state: inout ResponseState
    ) -> ResponsePart {
        ResponsePart(
            head: response.firstHead(context, &state), body: ConnectEndOfStream.frame(error, metadata: metadata),
            end: .body)
    }
}
