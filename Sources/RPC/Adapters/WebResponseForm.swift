import Wire

/// What the responses of Connect and of gRPC-Web have in common.
struct WebResponseForm {
    /// The request's, too.
    var type: WebContentType
    var codec: MessageCodec
    /// How responses may be compressed; `nil` = not.
    var accepted: MessageEncoding?
    /// Fields of every response: what lets a page of another origin read it.
    var crossOrigin: ResponseSection.Fields = []

    /// The header section of a response that is no HTTP error.
    func head(_ more: [(name: String, value: String)], _ metadata: Metadata) -> ResponseSection {
        .made(
            status: 200, ResponseSection.fields([("content-type", type.name)] + more + metadata.pairs) + crossOrigin)
    }

    /// A method's message, which stands behind the room for gRPC's prefix, in the client's encoding.
    func message(_ frame: [UInt8]) throws(RPCError) -> [UInt8] {
        try codec.encode(frame[MessagePrefix.byteCount...])
    }
}
