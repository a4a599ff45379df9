import Basics
import Crypto

/// What a browser shows to be let in: 256 random bits each, of which the gateway keeps the digest.
enum SessionSecret {
    static func random() -> String { Base64.encodeURL(Random.bytes(32)) }

    static func digest(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}

/// The digest of a session's cookie.
struct SessionKey: Hashable, Sendable {
    private let digest: [UInt8]

    init(_ cookie: String) {
        digest = SessionSecret.digest(cookie)
    }
}

/// The cookie of a session: for this host only, for no script, and from no other site's page (RFC 6265bis, sections 4.1.3
/// and 5.5). Browsers take it over TLS, and those of Chromium and Firefox from loopback without.
enum SessionCookie {
    static let name = "__Host-console"

    static func set(_ value: String) -> String { "\(name)=\(value); \(attributes)" }

    static let removal = "\(name)=; Max-Age=0; \(attributes)"

    private static let attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
}
