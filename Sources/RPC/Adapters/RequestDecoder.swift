import GRPCWire

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

/// Decodes a request whose body is a stream of bytes: each received piece is a message.
struct PieceDecoder {
    private let limit: Int
    private var hasDelivered = false

    /// - Parameter limit: the longest piece, in bytes.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    mutating func receive(_ data: UnsafeRawBufferPointer, deliver: RequestDecoder.Deliver) {
        var start = 0
        while start < data.count {
            let end = min(data.count, start + limit)
            deliver(UnsafeRawBufferPointer(rebasing: data[start..<end]), false)
            hasDelivered = true
            start = end
        }
    }

    /// Handles the end of the body. If the body is empty, the fields outside of it are still one message.
    mutating func receiveEnd(deliver: RequestDecoder.Deliver) {
        if !hasDelivered { deliver(UnsafeRawBufferPointer(start: nil, count: 0), false) }
        hasDelivered = true
    }
}

/// Decodes a request whose body is one message.
struct WholeBodyDecoder {
    private let limit: Int
    private let isCompressed: Bool
    /// Whether the message is in the query, so that the request has no body.
    private let isComplete: Bool
    private var body: [UInt8]

    /// - Parameters:
    ///   - limit: the largest message, in bytes.
    ///   - isCompressed: whether the message is compressed, as the header section says.
    init(limit: Int, isCompressed: Bool) {
        self.limit = limit
        self.isCompressed = isCompressed
        isComplete = false
        body = []
    }

    /// A decoder for the message of a GET, which a body would continue or replace.
    init(message: [UInt8], limit: Int, isCompressed: Bool) {
        self.limit = limit
        self.isCompressed = isCompressed
        isComplete = true
        body = message
    }

    var heldBytes: Int { body.count }

    mutating func receive(_ data: UnsafeRawBufferPointer) throws(RPCError) {
        guard !isComplete || data.isEmpty else { throw .invalidRequest("a GET must not have a body") }
        guard body.count + data.count <= limit else {
            throw .tooLarge("the request exceeds the limit of \(limit) bytes")
        }
        body.append(contentsOf: data)
    }

    /// The decoder without the body, after its message was delivered.
    var emptied: WholeBodyDecoder { WholeBodyDecoder(limit: limit, isCompressed: isCompressed) }

    func receiveEnd(deliver: RequestDecoder.Deliver) {
        // An empty body is not a compressed one.
        body.withUnsafeBytes { deliver($0, isCompressed && !$0.isEmpty) }
    }
}

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
