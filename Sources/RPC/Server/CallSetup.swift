import Wire

/// What a call is made of when its request's header section has come. Moved, not copied: that is for every call.
struct CallSetup: ~Copyable {
    let context: CallContext
    let origin: CallOrigin
    let stream: any CallStream
    let adapter: CallProtocolAdapter
    /// How the client's compressed messages are compressed; `nil` = it sends none.
    let encoding: MessageEncoding?
    /// The largest message, in bytes, also after decompression.
    let messageLimit: Int
}
