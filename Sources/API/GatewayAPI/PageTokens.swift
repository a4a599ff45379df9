import Basics
package import Crypto

/// Page tokens, which contain the position of the next page. A token is sealed, so that it only works for the query and the caller
/// for which it was issued; and encrypted, because a page may end at a row that the caller may not see.
package struct PageTokens: Sendable {
    private static let sealLength = 16
    private static let maximumLength = 2048

    private let key: [UInt8]
    private let cipherKey: [UInt8]

    package init(keyring: Keyring) {
        key = keyring.key(.pageTokens)
        cipherKey = keyring.key(.pageCursors)
    }

    /// - Parameters:
    ///   - cursor: the position of the next page, in the list's own format.
    ///   - scope: the list, its filter and its caller; the token only opens with an equal scope.
    package func seal(_ cursor: String, scope: String) -> String {
        let content = Array(cursor.utf8)
        let seal = seal(content, scope)
        return Base64.encodeURL(seal + AES256GCM.seal(content, key: cipherKey, nonce: Self.nonce(seal)))
    }

    /// Returns the cursor; `nil` for a token that was not issued for `scope`.
    package func open(_ token: String, scope: String) -> String? {
        guard token.utf8.count <= Self.maximumLength, let bytes = Base64.decodeURL(token),
            bytes.count > Self.sealLength + AES256GCM.tagCount
        else { return nil }
        let seal = Array(bytes[..<Self.sealLength])
        let sealed = Array(bytes[Self.sealLength...])
        guard let content = AES256GCM.open(sealed, key: cipherKey, nonce: Self.nonce(seal)),
            constantTimeEqual(seal, self.seal(content, scope))
        else { return nil }
        return String(decoding: content, as: UTF8.self)
    }

    /// Derives the nonce from the contents, so that a nonce is never used with two contents (the construction of RFC 5297).
    private static func nonce(_ seal: [UInt8]) -> [UInt8] { Array(seal[..<AES256GCM.nonceCount]) }

    private func seal(_ content: [UInt8], _ scope: String) -> [UInt8] {
        // The length of the scope comes first, so that no byte of one part can pass for the other's.
        let message = Array("\(scope.utf8.count) \(scope)".utf8) + content
        return Array(HMAC.sha256(key: key, message)[..<Self.sealLength])
    }
}
