/// The protocol in which one call travels: gRPC, gRPC-Web or Connect. It cuts messages out of the request's body and writes
/// the response; everything else that a call is subject to happens in ``ServerCall``, which does not know which it is.
///
/// Does no IO: bytes and values in, bytes and values out. Chosen once, when the request's header section has come.
struct CallProtocolAdapter {
    /// How the messages themselves are written.
    var codec = MessageCodec.proto
    let request: RequestDecoder
    let response: any ResponseEncoder
}
