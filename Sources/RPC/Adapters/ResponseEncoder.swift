package import CommonProto
package import Crypto
import GRPCWire
import HTTP2

/// Writes a call's response in its protocol.
package protocol ResponseEncoder: AnyObject {
    /// Encodes a message.
    ///
    /// - Parameters:
    ///   - frame: the message, after the space for gRPC's prefix, which is filled in.
    ///   - state: the state of the call's response.
    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart

    /// Encodes a message of any bytes without copying them; `nil` if the protocol has no such form, and needs the message.
    func body(_ body: HttpBody, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart?

    /// Returns the end of a successful call.
    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart

    /// Returns the end of a failed call.
    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart
}

extension ResponseEncoder {
    package func body(
        _ body: HttpBody, _ context: CallContext, _ state: inout ResponseState
    ) -> ResponsePart? { nil }
}

/// The progress of a response.
package struct ResponseState: Sendable {
    /// Whether the header section was sent.
    var hasBegun = false
    /// The compression of messages that the header section announced.
    var announced: MessageEncoding?
}

/// A part of a response to be sent to the client.
package struct ResponsePart: Sendable {
    package enum End: Sendable {
        /// Another part follows.
        case none
        /// The header section is all of the response.
        case head
        /// Nothing follows the body, and the client may continue its request.
        case body
        /// The response ends incomplete after the body, which the client must notice.
        case broken
        /// These fields follow the body.
        case trailers(ResponseSection)
    }

    /// The header section; `nil` if it was sent before.
    package var head: ResponseSection?
    package var body: [UInt8]
    package var end: End

    package init(head: ResponseSection? = nil, body: [UInt8] = [], end: End = .none) {
        self.head = head
        self.body = body
        self.end = end
    }

    /// Whether the response ends with this part.
    package var isLast: Bool {
        if case .none = end { false } else { true }
    }
}

/// A header or trailer section of a response.
package enum ResponseSection: Sendable {
    package typealias Fields = [(name: String, value: [UInt8])]

    /// - status: the HTTP status; `nil` in a trailer section.
    case made(status: Int?, Fields)
    /// - requestID: the request's id if it is sent to the client; the section's last field.
    case permanent(PermanentSection, requestID: RequestID? = nil)

    /// Returns the field that reports the request's id to the client.
    static func field(_ requestID: RequestID) -> (name: String, value: [UInt8]) {
        (RequestID.field.description, requestID.withBytes(Array.init))
    }

    package var status: Int? {
        switch self {
        case .made(let status, _): status
        case .permanent(let section, _): section.status
        }
    }

    package var fields: Fields {
        switch self {
        // A 401 names the scheme that it wants (RFC 9110, section 15.5.2).
        case .made(401, let fields): fields + [Self.challenge]
        case .made(_, let fields): fields
        case .permanent(let section, let requestID): section.fields + (requestID.map { [Self.field($0)] } ?? [])
        }
    }

    /// The section in HTTP/2's form, in which the status is a field (RFC 9113, section 8.3.2).
    var block: HeaderBlock {
        if case .permanent(let section, nil) = self { return section.block }
        return HeaderBlock((status.map { [(":status", Array("\($0)".utf8))] } ?? []) + fields)
    }

    private static let challenge = (name: "www-authenticate", value: Array("Bearer".utf8))

    static func fields(_ pairs: [(name: String, value: String)]) -> Fields {
        pairs.map { ($0.name, Array($0.value.utf8)) }
    }
}

/// A section that is sent repeatedly: made once, and never freed.
package final class PermanentSection: Sendable {
    fileprivate let status: Int?
    fileprivate let fields: ResponseSection.Fields
    /// The section for HTTP/2, without a request id.
    let block: HeaderBlock

    init(_ fields: [(name: String, value: String)], status: Int?) {
        self.status = status
        self.fields = ResponseSection.fields(fields)
        block = HeaderBlock(permanent: (status.map { [(":status", "\($0)")] } ?? []) + fields)
    }
}
