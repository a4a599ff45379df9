import GRPCWire

/// Extracts the messages of a gRPC-Web request whose body is base64.
struct GRPCWebTextDecoder {
    private var text = Base64Stream()
    private var frames: FramedDecoder

    /// - Parameter limit: the largest message, in bytes.
    init(limit: Int) {
        frames = FramedDecoder(limit: limit)
    }

    var heldBytes: Int { frames.heldBytes }

    mutating func receive(_ data: UnsafeRawBufferPointer, deliver: RequestDecoder.Deliver) throws(RPCError) {
        try decoded(data).withUnsafeBufferPointer { (bytes) throws(RPCError) in
            try frames.receive(UnsafeRawBufferPointer(bytes), deliver: deliver)
        }
    }

    private mutating func decoded(_ data: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8] {
        do {
            return try text.decode(data)
        } catch {
            throw .invalidRequest("the content type requires a base64 body, and the body is not valid base64")
        }
    }

    func receiveEnd() throws(RPCError) {
        if text.isWithinGroup { throw .invalidRequest("the request ends within a group of base64 characters") }
        try frames.receiveEnd()
    }
}
