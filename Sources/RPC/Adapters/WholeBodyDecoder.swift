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
