import GRPCWire

/// The parts of a call when its request's header section is complete. Moved rather than copied, because it is made for every call.
struct CallSetup: ~Copyable {
    let context: CallContext
    let origin: CallOrigin
    let stream: any CallStream
    let adapter: CallProtocolAdapter
    /// The compression of the client's compressed messages; `nil` = it sends none.
    let encoding: MessageEncoding?
    /// The largest message, in bytes, also after decompression.
    let messageLimit: Int
}
