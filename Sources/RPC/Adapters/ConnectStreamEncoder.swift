import GRPCWire

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
