import CommonProto

/// The response of one call: its protocol's encoder, and its progress.
struct CallResponse {
    let encoder: any ResponseEncoder
    private var state = ResponseState()

    init(encoder: any ResponseEncoder) {
        self.encoder = encoder
    }

    /// Whether the header section was sent.
    var hasBegun: Bool { state.hasBegun }

    mutating func message(_ frame: [UInt8], _ context: CallContext) throws(RPCError) -> ResponsePart {
        try encoder.message(frame, context, &state)
    }

    mutating func body(_ body: HttpBody, _ context: CallContext) -> ResponsePart? {
        encoder.body(body, context, &state)
    }

    mutating func success(_ context: CallContext) -> ResponsePart { encoder.success(context, &state) }

    mutating func failure(_ error: RPCError, _ context: CallContext) -> ResponsePart {
        encoder.failure(error, context, &state)
    }
}
