import GRPCWire

/// Extracts messages with prefixes: those of gRPC, of gRPC-Web and of Connect's streams.
struct FramedDecoder {
    private var deframer: MessageDeframer

    /// - Parameter limit: the largest message, in bytes.
    init(limit: Int) {
        deframer = MessageDeframer(limit: limit)
    }

    var heldBytes: Int { deframer.gatheredBytes }

    mutating func receive(_ data: UnsafeRawBufferPointer, deliver: RequestDecoder.Deliver) throws(RPCError) {
        do {
            try deframer.receive(data, deliver: deliver)
        } catch {
            throw error.rpcError
        }
    }

    func receiveEnd() throws(RPCError) {
        if deframer.isWithinMessage { throw .invalidRequest("the request ends within a message") }
    }
}
