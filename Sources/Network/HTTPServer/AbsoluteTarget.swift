import Basics

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
