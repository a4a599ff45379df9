import GRPCWire

/// gRPC-Web's responses, for clients that cannot read trailers: the last message has the trailers, and for clients that read only
/// text the whole body is base64 (gRPC-Web, "Protocol differences vs gRPC over HTTP2").
final class GRPCWebEncoder: ResponseEncoder {
    private let isText: Bool
    private let response: FramedWebResponse

    init(_ form: WebResponseForm) {
        isText = form.type.shape == .grpcWebText
        response = FramedWebResponse(form, encodingField: "grpc-encoding")
    }

    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        var part = try response.part(frame, context, &state)
        part.body = body(part.body)
        return part
    }

    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        end([("grpc-status", [0x30])], context, &state)
    }

    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        end(GRPCSections.fields(error), context, &state)
    }

    private func end(
        _ status: ResponseSection.Fields, _ context: CallContext, _ state: inout ResponseState
    ) -> ResponsePart {
        let trailers = GRPCWebTrailers.frame(status + GRPCSections.fields(context.trailingMetadata))
        return ResponsePart(head: response.firstHead(context, &state), body: body(trailers), end: .body)
    }

    private func body(_ bytes: [UInt8]) -> [UInt8] {
        isText ? Base64Stream.encode(bytes) : bytes
    }
}
