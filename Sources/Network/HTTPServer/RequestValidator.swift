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

/// A request target in absolute form (RFC 9112, section 3.2.2), which some SDKs send to servers as if to a proxy.
struct AbsoluteTarget: Equatable {
    /// The host with the port, which takes the place of the Host field.
    let authority: String
    /// The path with the query, as in origin form.
    let origin: String

    /// - Returns: `nil` for any target that is not an `http` or `https` URI with a host, without user information.
    init?(_ target: String) {
        guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")),
            ["http", "https"].contains(target[..<colon].lowercased()), target[colon...].utf8.starts(with: "://".utf8)
        else { return nil }
        let rest = target[colon...].utf8.dropFirst(3)
        let end = rest.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let authority = rest[..<(end ?? rest.endIndex)]
        guard Self.isAuthority(authority) else { return nil }
        self.authority = String(Substring(authority))
        let path = String(Substring(rest[authority.endIndex...]))
        origin = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
    }

    /// Whether the bytes are a host name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 3986, section
    /// 3.2). No name of a server has characters that a URI would have to escape.
    private static func isAuthority(_ bytes: Substring.UTF8View) -> Bool {
        let isBracketed = bytes.first == UInt8(ascii: "[")
        guard let end = isBracketed ? bytes.firstIndex(of: UInt8(ascii: "]")) : bytes.endIndex else { return false }
        let host = isBracketed ? bytes[..<end].dropFirst() : bytes.prefix { $0 != UInt8(ascii: ":") }
        let port = isBracketed ? bytes[end...].dropFirst() : bytes[host.endIndex...]
        let isHost = host.allSatisfy { byte in
            isBracketed
                ? byte.hexDigitValue != nil || ":.".utf8.contains(byte)
                : byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte)
        }
        guard isHost, !host.isEmpty else { return false }
        return port.isEmpty
            || port.first == UInt8(ascii: ":") && port.count <= 6 && port.dropFirst().allSatisfy(\.isASCIIDigit)
    }
}
