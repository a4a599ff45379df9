package import Crypto
import HTTP2

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
