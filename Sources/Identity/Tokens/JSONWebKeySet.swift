import Basics
import Crypto

/// The public keys of an identity provider (JWK Set, RFC 7517 section 5).
package struct JSONWebKeySet: Sendable {
    /// The bounds of a set.
    package static let maximumBytes = 64 << 10
    package static let maximumKeys = 32
    /// The longest `kid` in bytes.
    package static let longestKeyID = 255

    /// A key that verifies tokens.
    package struct Entry: Sendable {
        package let id: String?
        package let key: VerificationKey
    }

    /// The usable keys; not empty.
    package let entries: [Entry]

    /// Reads a set. Keys for other purposes and of other types are passed over, and so are keys that are too weak or malformed.
    ///
    /// - Throws: ``KeySetError``.
    package init(parsing bytes: [UInt8]) throws(KeySetError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLong }
        guard let keys = ClaimValue(parsing: bytes)?.members?["keys"]?.elements else { throw .malformed }
        guard keys.count <= Self.maximumKeys else { throw .tooManyKeys(keys.count) }
        var known: Set<String> = []
        var entries: [Entry] = []
        for key in keys {
            guard let members = key.members else { throw .malformed }
            let id = members["kid"]?.text
            // Which of two keys a token means must not depend on their order.
            if let id, !known.insert(id).inserted { throw .repeatedKeyID(String(id.prefix(64))) }
            if let entry = Self.entry(members, id: id) { entries.append(entry) }
        }
        guard !entries.isEmpty else { throw .noUsableKey }
        self.entries = entries
    }

    /// Returns the key that a token names; without a name, the only key.
    package func key(_ id: String?) -> VerificationKey? {
        guard let id else { return entries.count == 1 ? entries.first?.key : nil }
        return entries.first { $0.id == id }?.key
    }

    private static func entry(_ members: [String: ClaimValue], id: String?) -> Entry? {
        guard members["kid"] == nil || (1...longestKeyID).contains(id?.utf8.count ?? 0),
            members["use"] == nil || members["use"] == .text("sig"),
            members["key_ops"] == nil || members["key_ops"]?.texts?.contains("verify") == true,
            let key = key(members)
        else { return nil }
        guard members["alg"] == nil || members["alg"] == .text(key.algorithm.rawValue) else { return nil }
        return Entry(id: id, key: key)
    }

    private static func key(_ members: [String: ClaimValue]) -> VerificationKey? {
        func bytes(_ name: String) -> [UInt8]? {
            guard let text = members[name]?.text, !text.utf8.contains(UInt8(ascii: "=")) else { return nil }
            return Base64.decodeURL(text)
        }
        switch members["kty"]?.text {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            return VerificationKey(modulus: modulus, exponent: exponent)
        case "EC":
            guard members["crv"] == .text("P-256"), let x = bytes("x"), let y = bytes("y") else { return nil }
            return VerificationKey(x: x, y: y)
        default: return nil
        }
    }
}

/// The reason why a key set is refused.
package enum KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLong
    case malformed
    case tooManyKeys(Int)
    case repeatedKeyID(String)
    case noUsableKey

    package var description: String {
        switch self {
        case .tooLong: "the key set is longer than \(JSONWebKeySet.maximumBytes) bytes"
        case .malformed: "the key set is not a JSON Web Key Set"
        case .tooManyKeys(let count): "the key set has \(count) keys; the maximum is \(JSONWebKeySet.maximumKeys) keys"
        case .repeatedKeyID(let id): "the key set has two keys with the kid \"\(id)\""
        case .noUsableKey:
            "the key set has no key for RS256 (RSA of 2048 to 8192 bits) or ES256 (P-256)"
        }
    }
}
