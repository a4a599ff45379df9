import Basics
import Crypto

/// The secrets of a session, its cookie and its token: 256 random bits each. The gateway keeps only their digests.
enum SessionSecret {
    static func random() -> String { Base64.encodeURL(Random.bytes(32)) }

    static func digest(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}

/// The digest of a session's cookie.
struct SessionKey: Hashable, Sendable {
    let digest: [UInt8]

    init(_ cookie: String) {
        digest = SessionSecret.digest(cookie)
    }
}

/// The cookie of a session: for this host only, not readable by scripts, and not sent with requests of other sites (RFC 6265bis,
/// sections 4.1.3 and 5.5). Browsers accept it over TLS; Chromium and Firefox accept it from loopback without TLS.
enum SessionCookie {
    static let name = "__Host-console"

    static func set(_ value: String) -> String { "\(name)=\(value); \(attributes)" }

    static let removal = "\(name)=; Max-Age=0; \(attributes)"

    private static let attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
}
