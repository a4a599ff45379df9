import GRPCWire

/// The parts of web responses whose messages have prefixes, as in gRPC.
struct FramedWebResponse {
    private let form: WebResponseForm
    /// The name of the field that states the compression of messages.
    private let encodingField: String

    init(_ form: WebResponseForm, encodingField: String) {
        self.form = form
        self.encodingField = encodingField
    }

    /// Returns the header section, at the first call; then `nil`.
    func firstHead(_ context: CallContext, _ state: inout ResponseState) -> ResponseSection? {
        if state.hasBegun { return nil }
        state.hasBegun = true
        if context.compressesResponses || context.mayCompressLater { state.announced = form.accepted }
        return form.head(state.announced.map { [(encodingField, $0.rawValue)] } ?? [], context.leadingMetadata)
    }

    /// Returns the part of the response that has a method's message.
    ///
    /// - Parameter frame: the message, after the space for gRPC's prefix.
    func part(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        var framed = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + (try form.message(frame))
        // After the conversion: a message that cannot be converted is reported after the same header section.
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
    /// Returns the compressed message with its prefix.
    ///
    /// - Parameter frame: the message, after the space for a prefix.
    func compressing(frame: [UInt8]) -> [UInt8] {
        let message = frame.withUnsafeBytes {
            compress(UnsafeRawBufferPointer(rebasing: $0[MessagePrefix.byteCount...]))
        }
        var compressed = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + message
        MessagePrefix.write(to: &compressed, compressed: true)
        return compressed
    }
}

/// The common properties of Connect's and gRPC-Web's responses.
struct WebResponseForm {
    /// The content type, which is the request's.
    var type: WebContentType
    var codec: MessageCodec
    /// The compression of responses that the client accepts; `nil` = none.
    var accepted: MessageEncoding?
    /// Fields of every response that let a page of another origin read it.
    var crossOrigin: ResponseSection.Fields = []

    /// Returns the header section of a response that is not an HTTP error.
    func head(_ more: [(name: String, value: String)], _ metadata: Metadata) -> ResponseSection {
        .made(
            status: 200, ResponseSection.fields([("content-type", type.name)] + more + metadata.pairs) + crossOrigin)
    }

    /// Returns a method's message in the client's encoding; `frame` has space for gRPC's prefix before the message.
    func message(_ frame: [UInt8]) throws(RPCError) -> [UInt8] {
        try codec.encode(frame[MessagePrefix.byteCount...])
    }
}
