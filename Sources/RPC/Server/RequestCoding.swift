import GRPCWire

/// The conversion of a request's messages to those that its method reads.
struct RequestCoding {
    let codec: MessageCodec
    /// The compression of the client's compressed messages; `nil` = it sends none.
    let encoding: MessageEncoding?
    /// The largest message, in bytes, also after decompression.
    let messageLimit: Int

    /// Calls `body` with a message as its method reads it; it is valid during the call only.
    func decode(
        _ message: UnsafeRawBufferPointer, isCompressed: Bool,
        _ body: (UnsafeRawBufferPointer) throws(RPCError) -> Void
    ) throws(RPCError) {
        guard isCompressed else { return try convert(message, body) }
        try decompress(message).withUnsafeBufferPointer { (bytes) throws(RPCError) in
            try convert(UnsafeRawBufferPointer(bytes), body)
        }
    }

    private func convert(
        _ message: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(RPCError) -> Void
    ) throws(RPCError) {
        guard let decoded = try codec.decode(message) else { return try body(message) }
        try decoded.withUnsafeBufferPointer { (bytes) throws(RPCError) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }

    private func decompress(_ message: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8] {
        guard let encoding else {
            throw .malformedCall("a message is compressed, and no header field names the format")
        }
        do {
            return try encoding.decompress(message, limit: messageLimit)
        } catch {
            throw error.rpcError
        }
    }
}
