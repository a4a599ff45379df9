import Basics
package import HTTPTypes

/// The checks that every request must pass before it is processed.
///
/// libmicrohttpd 0.9.75 accepts requests that another server on the way could read differently (request smuggling), so the relevant
/// rules of RFC 9112 are checked here, on the header as it was sent. A violation is answered with 400 and the connection is closed,
/// since its framing can no longer be trusted.
package struct RequestValidator: Sendable {
    package enum Refusal: Error, Sendable, Equatable {
        /// The library's strings are not all that was sent: lines are folded, end with a bare LF, or contain a NUL.
        case notAsSent
        /// The target is neither a path nor an absolute URI of HTTP.
        case targetUnknown
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
    /// The limit in bytes for the request target and all names and values together.
    package var maximumBytes = 16 * 1024

    package init() {}

    /// Returns the framing of the body of an acceptable request.
    package func admit(
        target: String, fields: HTTPFields, version: String
    ) throws(Refusal) -> HTTPRequestHead.Framing {
        guard target.utf8.first == UInt8(ascii: "/") || AbsoluteTarget(target) != nil else { throw .targetUnknown }
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
        // An empty list expects nothing (RFC 9110, section 5.6.1).
        if let expectation = fields["expect"], !["", "100-continue"].contains(expectation.lowercased()) {
            throw .expectationUnknown
        }
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
        guard let value = Int64(decimal: length), value <= HTTPRequestHead.Framing.longestBody else {
            throw .lengthMalformed
        }
        return value == 0 ? .none : .length(value)
    }
}
