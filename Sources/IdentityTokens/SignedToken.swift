import Basics
package import Crypto
package import JSON

/// A signed JSON Web Token of another party, taken apart but not verified (RFC 7515, RFC 7519, RFC 8725).
package struct SignedToken: Sendable {
    /// The longest token in bytes.
    package static let maximumBytes = 16 << 10

    package let algorithm: VerificationKey.Algorithm
    /// The `kid` of the header.
    package let keyID: String?
    /// The claims, which anybody may have written.
    package let claims: [String: JSONValue]
    /// The bytes under the signature.
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// - Throws: ``IdentityTokenError/malformed(_:)``, ``IdentityTokenError/algorithm`` or ``IdentityTokenError/type``.
    package init(parsing text: String) throws(IdentityTokenError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes else { throw .malformed("it is longer than \(Self.maximumBytes) bytes") }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("it must be three parts in Base64url, separated by dots") }
        // Without padding, which would give one token several texts.
        guard let header = Base64.decodeURL(parts[0]), let payload = Base64.decodeURL(parts[1]),
            let signature = Base64.decodeURL(parts[2])
        else { throw .malformed("a part is not Base64url") }
        guard let head = JSONValue(claims: header)?.members, let claims = JSONValue(claims: payload)?.members else {
            throw .malformed("the header and the claims must be JSON objects without repeated members")
        }
        // An extension that must be understood (RFC 7515, section 4.1.11). `jku`, `jwk`, `x5u` and `x5c` are not read: keys are
        // the provider's only.
        guard head["crit"] == nil else { throw .malformed("its header has critical extensions") }
        guard let algorithm = head["alg"]?.stringValue.flatMap(VerificationKey.Algorithm.init(rawValue:)) else {
            throw .algorithm
        }
        // A token for another purpose names it: at+jwt, logout+jwt (RFC 8725, section 3.11).
        guard head["typ"] == nil || head["typ"]?.stringValue?.lowercased() == "jwt" else { throw .type }
        guard head["kid"] == nil || head["kid"]?.stringValue != nil else { throw .malformed("its kid is not a string") }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        keyID = head["kid"]?.stringValue
        signed = Array(bytes[..<parts[1].endIndex])
    }

    /// The issuer that the token claims to have.
    package var issuer: String? { claims["iss"]?.stringValue }

    /// The digest that identifies the token. It leaves out the signature, of which there can be several for the same token.
    package var digest: [UInt8] { Digest.sha256(signed) }

    /// - Throws: ``IdentityTokenError/unknownKey`` or ``IdentityTokenError/signature``.
    func verify(_ keys: JSONWebKeySet) throws(IdentityTokenError) {
        guard keys.hasKey(keyID) else { throw .unknownKey }
        guard let key = keys.key(keyID, for: algorithm) else { throw keyID == nil ? .unknownKey : .signature }
        // The key decides which algorithm it is for (RFC 8725, section 3.1).
        guard key.algorithm == algorithm, key.verify(signature, of: signed) else { throw .signature }
    }
}
