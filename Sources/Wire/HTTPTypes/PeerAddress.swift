import Basics

/// A socket's address, as text: `127.0.0.1:50051`, `[::1]:50051`.
package struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// The host without brackets.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`, with an IPv6 host in brackets; `nil` for anything else. The host is not resolved here.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: Int(port))
    }

    package static let unknown = PeerAddress(host: "", port: 0)

    package var description: String { isBracketed ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The host as in a URL: an IPv6 address is in brackets.
    package var urlHost: String { isBracketed ? "[\(host)]" : host }

    /// Whether a text is a host name (RFC 1123, section 2.1; underscores are accepted as well) or an IP address without brackets.
    package static func isHost(_ text: String) -> Bool {
        if text.contains(":") { return AddressRange(text) != nil && !text.contains("/") }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= maximumHost
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
            }
    }

    /// The longest host name in bytes (RFC 1035, section 2.3.4).
    private static let maximumHost = 253

    /// Whether the host contains colons and therefore needs brackets before the port.
    package var isBracketed: Bool { host.utf8.contains(UInt8(ascii: ":")) }
}

/// The text of an address, without `http://` or `https://` in front of it and a slash behind it.
package struct AddressText: Sendable, Hashable {
    /// Whether the scheme was `https`; `nil` = the text has no scheme.
    package let isSecure: Bool?
    package let rest: String

    package init(_ text: String) {
        let scheme = ["http", "https"].first { text.hasPrefix("\($0)://") }
        let rest = scheme.map { text.dropFirst($0.count + 3) } ?? text[...]
        isSecure = scheme.map { $0 == "https" }
        self.rest = String(rest.hasSuffix("/") ? rest.dropLast() : rest)
    }
}
