import GRPCWire

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
