import Basics
import HTTPTypes

/// What every request must pass before anything else looks at it.
///
/// libmicrohttpd 0.9.75 takes requests that another server on the way could read differently (request smuggling), so
/// the rules of RFC 9112 that matter are checked here, over the header as it was sent. A refusal is answered with 400
/// and the connection is closed, since its framing cannot be trusted any more.
package struct RequestValidator: Sendable {
    package enum Refusal: Error, Sendable, Equatable {
        /// What the library hands out is not all that came: lines are folded, end with a bare LF, or hold a NUL.
        case notAsSent
        case targetNotOrigin
        case nameNotToken
        case valueNotPrintable
        case tooManyFields
        case tooLarge
        case repeated(String)
        case lengthBesideTransferEncoding
        case transferEncodingUnknown
        case lengthMalformed
        case hostMissing
        case expectationUnknown
    }

    package var maximumFields = 100
    /// Bytes of the request target and of all names and values.
    package var maximumBytes = 16 * 1024

    package init() {}

    /// How the body of an acceptable request is framed.
    package func admit(
        target: String, fields: HTTPFields, version: String
    ) throws(Refusal) -> HTTPRequestHead.Framing {
        guard target.utf8.first == UInt8(ascii: "/") else { throw .targetNotOrigin }
        guard fields.fields.count <= maximumFields else { throw .tooManyFields }
        var bytes = target.utf8.count
        for field in fields.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy({ $0.isHTTPTokenCharacter }) else {
                throw .nameNotToken
            }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .valueNotPrintable
            }
            bytes += field.name.utf8.count + field.value.utf8.count
        }
        guard bytes <= maximumBytes else { throw .tooLarge }
        for name in ["content-length", "transfer-encoding", "host", "authorization", "content-md5", "expect", "range"]
        where fields.values(of: name).count > 1 {
            throw .repeated(name)
        }
        if version == "HTTP/1.1", fields["host"] == nil { throw .hostMissing }
        if let expectation = fields["expect"], expectation.lowercased() != "100-continue" { throw .expectationUnknown }
        return try framing(fields)
    }

    private func framing(_ fields: HTTPFields) throws(Refusal) -> HTTPRequestHead.Framing {
        let length = fields["content-length"]
        if let encoding = fields["transfer-encoding"] {
            guard length == nil else { throw .lengthBesideTransferEncoding }
            guard encoding.lowercased() == "chunked" else { throw .transferEncodingUnknown }
            return .chunked
        }
        guard let length else { return .none }
        guard !length.isEmpty, length.utf8.allSatisfy({ $0.isASCIIDigit }), let value = Int64(length) else {
            throw .lengthMalformed
        }
        return value == 0 ? .none : .length(value)
    }
}
