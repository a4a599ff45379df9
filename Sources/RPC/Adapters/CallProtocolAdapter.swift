/// The protocol of one call: gRPC, gRPC-Web or Connect. It extracts messages from the request's body and writes the response;
/// everything else happens in ``ServerCall``, which does not depend on the protocol.
///
/// Does no IO: bytes and values in, bytes and values out. Selected once, when the request's header section was received.
struct CallProtocolAdapter {
    /// The encoding of the messages themselves.
    var codec = MessageCodec.proto
    let request: RequestDecoder
    let response: any ResponseEncoder
}
