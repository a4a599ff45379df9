import Wire

/// Connect's unary calls: the body is the message, the status is HTTP's, a failure is JSON whatever the codec (Connect
/// protocol, "Unary-Request" and "Unary-Response").
final class ConnectUnaryFront: CallFront {
    private let isCompressed: Bool
    private var body: [UInt8]
    private var message: [UInt8] = []

    /// - Parameters:
    ///   - isCompressed: the request is, as its header section says.
    ///   - message: the request of a GET; a POST's comes in its body.
    init(_ request: Request, isCompressed: Bool, message: [UInt8] = []) {
        self.isCompressed = isCompressed
        body = message
        super.init(request)
    }

    override var heldBytes: Int { body.count }

    override func receive(
        _ data: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer, Bool) -> Void
    ) throws(RPCError) {
        guard body.count + data.count <= request.limit else {
            throw RPCError(bare: .resourceExhausted, "the request is over the limit of \(request.limit) bytes")
        }
        body.append(contentsOf: data)
    }

    override func receiveEnd(deliver: (UnsafeRawBufferPointer, Bool) -> Void) throws(RPCError) {
        // A body that is empty is no compressed one.
        body.withUnsafeBytes { deliver($0, isCompressed && !$0.isEmpty) }
        body = []
    }

    override func reply(to frame: [UInt8], _ context: CallContext) throws(RPCError) -> Reply {
        message = try request.codec.encode(frame[MessagePrefix.byteCount...])
        // Trailers go as header fields, before the message.
        return Reply()
    }

    override func success(_ context: CallContext) -> Reply {
        var more = Self.trailers(context)
        if context.compressesResponses, let encoding = request.accepted {
            message = compressed(message, encoding)
            more.append(("content-encoding", encoding.rawValue))
        }
        return Reply(head: head(more, context.responseMetadata), body: message, isLast: true)
    }

    override func failure(_ error: RPCError, _ context: CallContext) -> Reply {
        let more = context.responseMetadata.pairs + Self.trailers(context)
        return Self.failure(error, status: error.status.httpStatus, Self.fields(more) + request.crossOrigin)
    }

    private static func trailers(_ context: CallContext) -> [(name: String, value: String)] {
        context.trailingMetadata.pairs.map { ("trailer-\($0.name)", $0.value) }
    }

    static func failure(_ error: RPCError, status: Int, _ more: Fields) -> Reply {
        var head = fields([(":status", "\(status)"), ("content-type", "application/json")])
        if let milliseconds = error.retryAfterMilliseconds {
            head += fields([("retry-after-ms", "\(milliseconds)")])
        }
        if error.status == .unimplemented { head += fields([("accept-encoding", MessageEncoding.offered)]) }
        return Reply(head: head + more, body: error.connect.json, isLast: true)
    }
}
