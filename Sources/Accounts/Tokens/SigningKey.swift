import Foundation
import Platform

/// A key pair that signs access tokens.
struct SigningKey: Sendable {
    /// The `kid`: the key's JWK thumbprint (RFC 7638), base64url.
    let id: String
    let key: ES256Key

    init(_ key: ES256Key) {
        let (x, y) = key.publicCoordinates
        // Section 3.2: the required members in lexicographic order, without whitespace.
        let members = #"{"crv":"P-256","kty":"EC","x":"\#(Base64.encodeURL(x))","y":"\#(Base64.encodeURL(y))"}"#
        id = Base64.encodeURL(Digest.sha256(Array(members.utf8)))
        self.key = key
    }
}

/// The keys that tokens are verified with, one of which signs.
struct SigningKeys: Sendable {
    let current: SigningKey
    /// They signed before, and go on verifying.
    let older: [SigningKey]

    init(current: SigningKey, older: [SigningKey] = []) {
        self.current = current
        self.older = older
    }

    /// The keys in `directory`, files `es256-NUMBER`, the highest number signing; where there is none, a new one.
    ///
    /// - Throws: ``SigningKeyError``.
    init(directory: String) throws {
        let prefix = "es256-"
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let numbers = names.compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }.sorted()
        var keys = try numbers.map { number in
            let path = "\(directory)/\(prefix)\(number)"
            guard let bytes = PrivateFile.read(path), let key = ES256Key(pkcs8: bytes) else {
                throw SigningKeyError(path: path)
            }
            return SigningKey(key)
        }
        if let newest = keys.popLast() {
            self.init(current: newest, older: keys)
        } else {
            let key = ES256Key()
            try PrivateFile.write(key.privateKey.exposed, to: "\(directory)/\(prefix)1")
            self.init(current: SigningKey(key))
        }
    }
}

/// A signing key that is there but cannot be read.
struct SigningKeyError: Error, CustomStringConvertible {
    let path: String

    var description: String {
        """
        \(path) is not a P-256 private key that can be read: restore it from a backup, or remove it \
        (tokens that it signed are then refused, and clients sign in again)
        """
    }
}
