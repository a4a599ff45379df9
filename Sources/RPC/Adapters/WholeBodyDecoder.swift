/// Decodes a request whose body is one message.
struct WholeBodyDecoder {
    private let limit: Int
    private let isCompressed: Bool
    private var body: [UInt8]

    /// - Parameters:
    ///   - limit: the largest message, in bytes.
    ///   - isCompressed: whether the message is compressed, as the header section says.
    ///   - body: bytes already known: the message of a GET.
    init(limit: Int, isCompressed: Bool, body: [UInt8] = []) {
        self.limit = limit
        self.isCompressed = isCompressed
        self.body = body
    }

    var heldBytes: Int { body.count }

    mutating func receive(_ data: UnsafeRawBufferPointer) throws(RPCError) {
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
