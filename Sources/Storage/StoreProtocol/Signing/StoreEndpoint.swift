import Basics

/// The public address of the store: the string that clients are issued, and the values that they derive from it.
package struct StoreEndpoint: Sendable, Equatable {
    /// The reason why an endpoint is invalid. Each of these breaks a deployed client.
    package enum Malformed: Error, Sendable, Equatable, CustomStringConvertible {
        case noScheme
        case addressIPv6
        case pathOrQuery
        case host
        case port

        package var description: String {
            switch self {
            case .noScheme:
                "an object-store endpoint must begin with http:// or https://, because clients have different defaults"
            case .addressIPv6:
                "an object-store endpoint must not be an IPv6 address, because clients cannot parse it: use a name"
            case .pathOrQuery:
                "an object-store endpoint must not have a path, query or user, because clients ignore them"
            case .host: "the host of an object-store endpoint must be an IPv4 address or a lower-case domain name"
            case .port: "the port of an object-store endpoint must be 1 to 65535"
            }
        }
    }

    /// The configured endpoint without a final slash.
    package let text: String
    /// The host without port.
    package let host: String
    /// The region that clients use in the scope of a V4 signature: taken from a host `oss-<region>.<domain>`, otherwise empty.
    package let region: String

    /// The host and port, as clients send them.
    package var authority: String { String(text.dropFirst(isSecure ? 8 : 7)) }

    package var isSecure: Bool { text.hasPrefix("https://") }

    package init(_ text: String) throws(Malformed) {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { throw .noScheme }
        var authority = text.dropFirst(scheme.count)
        if authority.last == "/" {
            authority.removeLast()
        }
        guard !authority.contains(where: { "/?#@".contains($0) }) else { throw .pathOrQuery }
        guard !authority.contains("["), authority.count(where: { $0 == ":" }) <= 1 else { throw .addressIPv6 }
        let halves = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let host = halves.first, Self.isHost(host) else { throw .host }
        if halves.count == 2 {
            guard let port = UInt16(halves[1]), port > 0 else { throw .port }
        }
        self.text = scheme + authority
        self.host = String(host)
        let label = host.prefix { $0 != "." }
        region = label.hasPrefix("oss-") && host.contains(".") ? String(label.dropFirst(4)) : ""
    }

    private static func isHost(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.utf8.count <= 253
            && labels.allSatisfy { label in
                !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") }
            }
    }
}

/// An object in an object store, with its location.
package struct StoreObject: Sendable {
    package let endpoint: StoreEndpoint
    /// The region in the signature's scope; empty if unknown.
    package let region: String
    package let bucket: String
    package let key: String
    /// The store's protocol.
    package let dialect: ClientRequest.Dialect

    /// - Parameter region: the issued region; if that is empty, the endpoint's own.
    package init(
        endpoint: StoreEndpoint, region: String = "", bucket: String, key: String, dialect: ClientRequest.Dialect = .oss
    ) {
        self.endpoint = endpoint
        self.region = region.isEmpty ? endpoint.region : region
        self.bucket = bucket
        self.key = key
        self.dialect = dialect
    }
}
