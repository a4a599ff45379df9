import Basics
package import Crypto
import JSON

/// The public keys of an identity provider (JWK Set, RFC 7517 section 5).
package struct JSONWebKeySet: Sendable {
    /// The longest set in bytes, which also bounds the number of its keys.
    package static let maximumBytes = 64 << 10
    /// The longest `kid` in bytes.
    package static let longestKeyID = 255

    /// A key that verifies tokens.
    package struct Entry: Sendable {
        package let id: String?
        package let key: VerificationKey
        /// The numbers of the key, by which repeated ones are found.
        fileprivate let numbers: [[UInt8]]

        fileprivate func hasName(of other: Entry) -> Bool {
            id?.utf8.elementsEqual(other.id?.utf8 ?? "".utf8) ?? (other.id == nil)
                && key.algorithm == other.key.algorithm
        }
    }

    /// The usable keys; not empty. No two have the same `kid` and algorithm.
    package let entries: [Entry]
    /// A sentence for each name that several different keys have, so that none of them is used.
    package let ambiguities: [String]

    /// Reads a set. Keys for other purposes and of other types are passed over, and so are keys that are too weak or malformed. Keys
    /// of different types may have the same `kid` (RFC 7517, section 4.5), and one key may be listed for each of its algorithms.
    ///
    /// - Throws: ``KeySetError``.
    package init(parsing bytes: [UInt8]) throws(KeySetError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLong }
        guard let keys = JSONValue(claims: bytes)?.members?["keys"]?.elements else { throw .malformed }
        let usable = keys.compactMap { $0.members.flatMap(Self.entry) }
        var entries: [Entry] = []
        var ambiguities: [String] = []
        for (index, entry) in usable.enumerated() {
            let earlier = usable[..<index].filter(entry.hasName)
            // A token without a name never means one of several keys without one.
            guard let id = entry.id else {
                if !earlier.contains(where: { $0.numbers == entry.numbers }) { entries.append(entry) }
                continue
            }
            guard earlier.isEmpty else { continue }
            // Which of two keys a token means must not depend on their order.
            if usable[index...].contains(where: { entry.hasName(of: $0) && entry.numbers != $0.numbers }) {
                let keys = "several \(entry.key.algorithm.rawValue) keys have the kid \"\(id.prefix(64))\""
                ambiguities.append(keys + ", so none of them is used")
            } else {
                entries.append(entry)
            }
        }
        guard !entries.isEmpty else { throw .noUsableKey(ambiguities) }
        self.entries = entries
        self.ambiguities = ambiguities
    }

    /// Whether the set has a key with the name; a token without one may mean any key.
    package func hasKey(_ id: String?) -> Bool {
        id.map { id in entries.contains { $0.id?.isExactly(id) == true } } ?? true
    }

    /// Returns the key that a token names; without a name, the only key (OpenID Connect Core 1.0, section 10.1).
    package func key(_ id: String?, for algorithm: VerificationKey.Algorithm) -> VerificationKey? {
        guard let id else { return entries.count == 1 ? entries.first?.key : nil }
        return entries.first { $0.id?.isExactly(id) == true && $0.key.algorithm == algorithm }?.key
    }

    private static func entry(_ members: [String: JSONValue]) -> Entry? {
        let id = members["kid"]?.stringValue
        guard members["kid"] == nil || (1...longestKeyID).contains(id?.utf8.count ?? 0),
            members["use"] == nil || members["use"] == .string("sig"),
            members["key_ops"] == nil || members["key_ops"]?.strings?.contains("verify") == true,
            let (key, numbers) = key(members)
        else { return nil }
        guard members["alg"] == nil || members["alg"] == .string(key.algorithm.rawValue) else { return nil }
        return Entry(id: id, key: key, numbers: numbers)
    }

    private static func key(_ members: [String: JSONValue]) -> (VerificationKey, numbers: [[UInt8]])? {
        switch members["kty"]?.stringValue {
        case "RSA":
            guard let modulus = number(members["n"]), let exponent = number(members["e"]) else { return nil }
            return VerificationKey(modulus: modulus, exponent: exponent).map { ($0, [modulus, exponent]) }
        case "EC":
            guard members["crv"] == .string("P-256"), let x = coordinate(members["x"]), let y = coordinate(members["y"])
            else { return nil }
            return VerificationKey(x: x, y: y).map { ($0, [x, y]) }
        default: return nil
        }
    }

    /// Reads an unsigned number in Base64url. Some providers write a leading zero octet (RFC 7518, section 6.3.1.1) or pad the text.
    private static func number(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.stringValue, let end = text.utf8.lastIndex(where: { $0 != UInt8(ascii: "=") }) else {
            return nil
        }
        let padding = text.utf8.distance(from: end, to: text.utf8.endIndex) - 1
        guard padding <= 2, let bytes = Base64.decodeURL(text[...end]) else { return nil }
        return Array(bytes.drop { $0 == 0 })
    }

    /// Reads a coordinate of P-256, with its leading zero octets or without them.
    private static func coordinate(_ value: JSONValue?) -> [UInt8]? {
        number(value).flatMap { $0.count <= 32 ? [UInt8](repeating: 0, count: 32 - $0.count) + $0 : nil }
    }
}

/// The reason why a key set is refused.
package enum KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLong
    case malformed
    /// - Parameter ambiguities: the names that several keys have.
    case noUsableKey(_ ambiguities: [String])

    package var description: String {
        switch self {
        case .tooLong: "the key set is longer than \(JSONWebKeySet.maximumBytes) bytes"
        case .malformed: "the key set is not a JSON Web Key Set"
        case .noUsableKey(let ambiguities):
            (["the key set has no usable key for RS256 (RSA of 2048 to 8192 bits) or ES256 (P-256)"] + ambiguities)
                .joined(separator: "; ")
        }
    }
}
