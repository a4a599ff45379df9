import Wire

/// What the fronts share whose messages lie behind prefixes, as gRPC's do.
class FramedFront: CallFront {
    private var deframer: MessageDeframer
    private var hasResponded = false
    /// How the response's messages can be compressed: what its header section announced.
    private var announced: MessageEncoding?

    override init(_ request: Request) {
        deframer = MessageDeframer(limit: request.limit)
        super.init(request)
    }

    override final var heldBytes: Int { deframer.gatheredBytes }

    override func receive(
        _ data: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer, Bool) -> Void
    ) throws(RPCError) {
        do {
            try deframer.receive(data, deliver: deliver)
        } catch {
            throw error.rpcError
        }
    }

    override func receiveEnd(deliver: (UnsafeRawBufferPointer, Bool) -> Void) throws(RPCError) {
        if deframer.isWithinMessage { throw .invalidRequest("the request ends within a message") }
    }

    /// The field that says how messages are compressed.
    var encodingField: String { "grpc-encoding" }

    /// The header section, the first time.
    final func firstHead(_ context: CallContext) -> Fields? {
        if hasResponded { return nil }
        hasResponded = true
        if context.compressesResponses || context.mayCompressLater { announced = request.accepted }
        return head(announced.map { [(encodingField, $0.rawValue)] } ?? [], context.responseMetadata)
    }

    final func framed(_ message: [UInt8], _ context: CallContext) -> [UInt8] {
        let encoding = context.compressesResponses ? announced : nil
        let payload = encoding.map { compressed(message, $0) } ?? message
        var frame = [UInt8](repeating: 0, count: MessagePrefix.byteCount)
        frame += payload
        MessagePrefix.write(to: &frame, compressed: encoding != nil)
        return frame
    }
}
