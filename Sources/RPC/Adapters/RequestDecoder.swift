/// Extracts messages from a request's body in one of the possible framings.
enum RequestDecoder {
    case framed(FramedDecoder)
    case framedText(GRPCWebTextDecoder)
    case wholeBody(WholeBodyDecoder)
    case pieces(PieceDecoder)
    case spooled(SpooledBody, isCompressed: Bool)

    typealias Deliver = (_ message: UnsafeRawBufferPointer, _ isCompressed: Bool) -> Void

    /// Bytes received of an incomplete message.
    var heldBytes: Int {
        switch self {
        case .framed(let decoder): decoder.heldBytes
        case .framedText(let decoder): decoder.heldBytes
        case .wholeBody(let decoder): decoder.heldBytes
        case .pieces: 0
        case .spooled(let body, _): body.heldBytes
        }
    }

    /// - Parameter deliver: called with each message that is complete; its bytes are valid during the call only.
    mutating func receive(_ data: UnsafeRawBufferPointer, deliver: Deliver) throws(RPCError) {
        switch consume self {
        case .framed(var decoder):
            defer { self = .framed(decoder) }
            try decoder.receive(data, deliver: deliver)
        case .framedText(var decoder):
            defer { self = .framedText(decoder) }
            try decoder.receive(data, deliver: deliver)
        case .wholeBody(var decoder):
            defer { self = .wholeBody(decoder) }
            try decoder.receive(data)
        case .pieces(var decoder):
            defer { self = .pieces(decoder) }
            decoder.receive(data, deliver: deliver)
        case .spooled(let body, let isCompressed):
            self = .spooled(body, isCompressed: isCompressed)
            try body.receive(data)
        }
    }

    /// Handles the end of the request.
    mutating func receiveEnd(deliver: Deliver) throws(RPCError) {
        switch self {
        case .framed(let decoder): try decoder.receiveEnd()
        case .framedText(let decoder): try decoder.receiveEnd()
        case .wholeBody(let decoder):
            self = .wholeBody(decoder.emptied)
            decoder.receiveEnd(deliver: deliver)
        case .pieces(var decoder):
            decoder.receiveEnd(deliver: deliver)
            self = .pieces(decoder)
        case .spooled(let body, let isCompressed):
            let contents = try body.contents()
            self = .spooled(SpooledBody(directory: "", limit: 0), isCompressed: isCompressed)
            contents.withUnsafeBytes { deliver($0, isCompressed && !$0.isEmpty) }
        }
    }
}
