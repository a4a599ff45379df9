import GRPCWire

/// The bytes of a request between the transport and the decoder: what is received and not decoded yet, and the request's end.
struct RequestInput {
    private enum End {
        /// The request is incomplete.
        case open
        /// All has arrived, and the end waits for the call's turn, after the bytes.
        case waiting
        /// The end was passed on.
        case handled
    }

    /// Received bytes that are decoded in the call's turn, because that may take long.
    private var bytes: [UInt8] = []
    /// The number of bytes at the start of `bytes` that are decoded.
    private var decodedCount = 0
    private var end = End.open
    /// Whether the bytes will be decoded in the next turn of the lane.
    var isScheduled = false
    /// Whether the decoder is processing bytes; methods called meanwhile must not change it.
    var isDecoding = false
    /// Whether the client must pause its request, because the handler is slower.
    var isHeld = false

    /// The number of bytes that wait.
    var count: Int { bytes.count - decodedCount }

    /// Whether all of the request has arrived.
    var hasEnded: Bool { if case .open = end { false } else { true } }

    mutating func append(_ data: UnsafeRawBufferPointer) { bytes.append(contentsOf: data) }

    /// Takes the next bytes to decode, at most `size`; `nil` if none wait. ``taken()`` must follow.
    mutating func next(_ size: Int) -> (bytes: [UInt8], range: Range<Int>)? {
        guard count > 0 else { return nil }
        let range = decodedCount..<min(decodedCount + size, bytes.count)
        decodedCount = range.upperBound
        return (bytes, range)
    }

    /// Discards the bytes if all of them are decoded.
    ///
    /// - Returns: whether they were.
    mutating func taken() -> Bool {
        guard count == 0 else { return false }
        drop()
        return true
    }

    mutating func drop() { (bytes, decodedCount) = ([], 0) }

    /// Handles the request's end.
    ///
    /// - Parameter waits: whether the end waits for the call's turn.
    mutating func receiveEnd(waits: Bool) { end = waits ? .waiting : .handled }

    /// Takes the end that waits for the call's turn.
    ///
    /// - Returns: whether there is one.
    mutating func takeEnd() -> Bool {
        guard case .waiting = end else { return false }
        end = .handled
        return true
    }
}

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
