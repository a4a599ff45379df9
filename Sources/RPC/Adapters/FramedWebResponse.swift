import Wire

/// The parts of web responses whose messages lie behind prefixes, as gRPC's do.
struct FramedWebResponse {
    private let form: WebResponseForm
    /// The field that says how messages are compressed.
    private let encodingField: String

    init(_ form: WebResponseForm, encodingField: String) {
        self.form = form
        self.encodingField = encodingField
    }

    /// The header section, the first time.
    func firstHead(_ context: CallContext, _ state: inout ResponseState) -> ResponseSection? {
        if state.hasBegun { return nil }
        state.hasBegun = true
        if context.compressesResponses || context.mayCompressLater { state.announced = form.accepted }
        return form.head(state.announced.map { [(encodingField, $0.rawValue)] } ?? [], context.leadingMetadata)
    }

    /// A part of the response with a method's message.
    ///
    /// - Parameter frame: the message behind the room for gRPC's prefix.
    func part(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        var framed = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + (try form.message(frame))
        // Not before: a message without a form in the client's encoding is told after the same header section.
        let head = firstHead(context, &state)
        if context.compressesResponses, let announced = state.announced {
            framed = announced.compressing(frame: framed)
        } else {
            MessagePrefix.write(to: &framed)
        }
        return ResponsePart(head: head, body: framed)
    }
}

extension MessageEncoding {
    /// The same message compressed, behind its prefix.
    ///
    /// - Parameter frame: the message behind the room for a prefix.
    func compressing(frame: [UInt8]) -> [UInt8] {
        let message = frame.withUnsafeBytes {
            compress(UnsafeRawBufferPointer(rebasing: $0[MessagePrefix.byteCount...]))
        }
        var compressed = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + message
        MessagePrefix.write(to: &compressed, compressed: true)
        return compressed
    }
}
