/// Cuts messages out of a request's body, in one of the ways in which they can lie there.
enum RequestDecoder {
    case framed(FramedDecoder)
    case framedText(GRPCWebTextDecoder)
    case wholeBody(WholeBodyDecoder)
    case pieces(PieceDecoder)

    typealias Deliver = (_ message: UnsafeRawBufferPointer, _ isCompressed: Bool) -> Void

    /// Bytes that came and are no whole message yet.
    var heldBytes: Int {
        switch self {
        case .framed(let decoder): decoder.heldBytes
        case .framedText(let decoder): decoder.heldBytes
        case .wholeBody(let decoder): decoder.heldBytes
        case .pieces: 0
        }
    }

    /// - Parameter deliver: takes each message that is whole now; its bytes are valid during the call only.
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
        }
    }

    /// The client sends no more.
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
        }
    }
}
