import Wire

/// Another protocol than gRPC in which a call travels: how the request's messages are cut out of its body, and what the
/// response looks like. gRPC itself needs none, ``ServerCall`` speaks it; whatever else a call is subject to happens
/// there, whichever front it came by.
///
/// Does no IO: bytes and values in, bytes and values out. Confined to its call's loop.
class CallFront {
    typealias Fields = [(name: String, value: [UInt8])]

    /// A part of a response.
    struct Reply {
        /// The header section; `nil` where it was sent before.
        var head: Fields?
        var body: [UInt8] = []
        /// Nothing follows.
        var isLast = false

        /// As its head says.
        var httpStatus: String {
            head?.first { $0.name == ":status" }.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
        }
    }

    /// What there is to know of a call's header section.
    struct Request {
        /// The response's, too.
        var type: WebContentType
        var codec: MessageCodec
        /// The largest message, in bytes.
        var limit: Int
        /// How responses may be compressed; `nil` = not.
        var accepted: MessageEncoding?
        /// Fields of every response: what lets a page of another origin read it.
        var crossOrigin: Fields = []
        /// What is wrong with the header section, beyond what gRPC has, too.
        var fault: RPCError?
    }

    let request: Request

    init(_ request: Request) {
        self.request = request
    }

    /// Bytes that came and are no whole message yet.
    var heldBytes: Int { 0 }

    /// - Parameter deliver: takes each message that is whole now; its bytes are valid during the call only.
    func receive(
        _ data: UnsafeRawBufferPointer, deliver: (_ message: UnsafeRawBufferPointer, _ isCompressed: Bool) -> Void
    ) throws(RPCError) {}

    /// The client sends no more.
    func receiveEnd(
        deliver: (_ message: UnsafeRawBufferPointer, _ isCompressed: Bool) -> Void
    ) throws(RPCError) {}

    /// - Parameter frame: a message behind the room for gRPC's prefix.
    func reply(to frame: [UInt8], _ context: CallContext) throws(RPCError) -> Reply { Reply() }

    func success(_ context: CallContext) -> Reply { Reply(isLast: true) }

    func failure(_ error: RPCError, _ context: CallContext) -> Reply { Reply(isLast: true) }

    // MARK: what fronts share

    /// The header section of a response that is no HTTP error.
    final func head(_ more: [(name: String, value: String)], _ metadata: Metadata) -> Fields {
        Self.fields([(":status", "200"), ("content-type", request.type.name)] + more + metadata.pairs)
            + request.crossOrigin
    }

    final func compressed(_ message: [UInt8], _ encoding: MessageEncoding) -> [UInt8] {
        message.withUnsafeBytes { encoding.compress($0) }
    }

    static func fields(_ pairs: [(name: String, value: String)]) -> Fields {
        pairs.map { ($0.name, Array($0.value.utf8)) }
    }
}
