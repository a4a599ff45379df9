import Wire

/// gRPC-Web, for clients that cannot read trailers: they come as the last message, and all of it in base64 where the
/// client reads text only (gRPC-Web, "Protocol differences vs gRPC over HTTP2").
final class GRPCWebFront: FramedFront {
    /// `nil` where the body is binary.
    private var text: Base64Stream?

    override init(_ request: Request) {
        text = request.type.shape == .grpcWebText ? Base64Stream() : nil
        super.init(request)
    }

    override func receive(
        _ data: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer, Bool) -> Void
    ) throws(RPCError) {
        guard let decoded = try decoded(data) else { return try super.receive(data, deliver: deliver) }
        try decoded.withUnsafeBufferPointer { (bytes) throws(RPCError) in
            try super.receive(UnsafeRawBufferPointer(bytes), deliver: deliver)
        }
    }

    private func decoded(_ data: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8]? {
        do {
            return try text?.decode(data)
        } catch {
            throw .invalidRequest("the request is no base64, which its content type says it is")
        }
    }

    override func receiveEnd(deliver: (UnsafeRawBufferPointer, Bool) -> Void) throws(RPCError) {
        if text?.isWithinGroup == true { throw .invalidRequest("the request ends within a group of base64") }
        try super.receiveEnd(deliver: deliver)
    }

    override func reply(to frame: [UInt8], _ context: CallContext) throws(RPCError) -> Reply {
        let message = try request.codec.encode(frame[MessagePrefix.byteCount...])
        return Reply(head: firstHead(context), body: body(framed(message, context)))
    }

    override func success(_ context: CallContext) -> Reply {
        end([("grpc-status", [0x30])], context)
    }

    override func failure(_ error: RPCError, _ context: CallContext) -> Reply {
        end(ResponseHeaders.fields(error), context)
    }

    private func end(_ status: Fields, _ context: CallContext) -> Reply {
        let trailers = GRPCWebTrailers.frame(status + ResponseHeaders.fields(context.trailingMetadata))
        return Reply(head: firstHead(context), body: body(trailers), isLast: true)
    }

    private func body(_ bytes: [UInt8]) -> [UInt8] {
        text == nil ? bytes : Base64Stream.encode(bytes)
    }
}
