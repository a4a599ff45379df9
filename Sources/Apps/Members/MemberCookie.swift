import Basics
import GRPCWire
import HTTPTypes
package import RPC

/// The cookie of a member's session, and the rule for the requests in which it counts.
package struct MemberCookie: Sendable {
    /// The cookie's name, which differs from app to app: one browser may be signed in to several apps of one host.
    private let name: String
    /// Whether browsers may send it over TLS only.
    package let isSecure: Bool

    /// - Parameter app: the app's name.
    package init(of app: String, isSecure: Bool) {
        name = "member_\(app)"
        self.isSecure = isSecure
    }

    /// Returns the value of `set-cookie`: not readable by scripts, and not sent with requests of other sites (RFC 6265bis, section
    /// 4.1.2).
    package func set(_ value: String, lifetime: Duration) -> String {
        "\(name)=\(value); Max-Age=\(lifetime.wholeSeconds); \(attributes)"
    }

    package var removal: String { "\(name)=; Max-Age=0; \(attributes)" }

    private var attributes: String { "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "") }

    /// Returns the cookie of a call; `nil` if it has none, or has one that does not count.
    ///
    /// A browser sends cookies with every request to this host, whichever page caused it. The cookie counts if the browser says that
    /// a page of this origin made the request, or if no page did: programs and phones send neither `sec-fetch-site` nor `origin`.
    package func value(in context: CallContext) -> String? {
        guard Self.counts(context) else { return nil }
        var found: String?
        for field in context.metadata.values("cookie") {
            for pair in field.utf8.split(separator: UInt8(ascii: ";")) {
                let text = String(Substring(pair)).trimmed
                guard text.hasPrefix("\(name)=") else { continue }
                // Two would be two answers to who calls; another host of the domain may have set one.
                guard found == nil else { return nil }
                found = String(text.dropFirst(name.count + 1))
            }
        }
        return found
    }

    private static func counts(_ context: CallContext) -> Bool {
        let sites = context.metadata.values("sec-fetch-site")
        switch sites.count {
        case 0: return context.metadata["origin"] == nil
        case 1 where sites[0] == "same-origin": return true
        case 1 where sites[0] == "none": return context.metadata["origin"] == nil
        default: return false
        }
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
