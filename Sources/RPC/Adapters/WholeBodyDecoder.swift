/// Takes a request whose body is one message.
struct WholeBodyDecoder {
    private let limit: Int
    private let isCompressed: Bool
    private var body: [UInt8]

    /// - Parameters:
    ///   - limit: the largest message, in bytes.
    ///   - isCompressed: whether the message is, as the header section says.
    ///   - body: what is there already: the message of a GET.
    init(limit: Int, isCompressed: Bool, body: [UInt8] = []) {
        self.limit = limit
        self.isCompressed = isCompressed
        self.body = body
    }

    var heldBytes: Int { body.count }

    mutating func receive(_ data: UnsafeRawBufferPointer) throws(RPCError) {
        guard body.count + data.count <= limit else {
            throw RPCError(bare: .resourceExhausted, "the request exceeds the limit of \(limit) bytes")
        }
        body.append(contentsOf: data)
    }

    /// The body once its message was taken.
    var emptied: WholeBodyDecoder { WholeBodyDecoder(limit: limit, isCompressed: isCompressed) }

    func receiveEnd(deliver: RequestDecoder.Deliver) {
        // A body that is empty is no compressed one.
        body.withUnsafeBytes { deliver($0, isCompressed && !$0.isEmpty) }
    }
}
