import Basics

/// Encrypts values that the gateway stores and needs again, such as tokens, with AES-256-GCM.
///
/// Each owner has a key of its own, so a value that is moved to another owner's row cannot be decrypted.
package struct SealedValues: Sendable {
    private let key: [UInt8]

    /// - Parameter key: 32 bytes, for this purpose only.
    package init(key: [UInt8]) {
        self.key = key
    }

    /// Returns the encrypted value: a nonce, the ciphertext and the tag.
    package func seal(_ plain: [UInt8], of owner: [UInt8]) -> [UInt8] {
        let nonce = Random.bytes(AES256GCM.nonceCount)
        return nonce + AES256GCM.seal(plain, key: key(of: owner), nonce: nonce)
    }

    /// Returns the value that was sealed for the owner; `nil` if it was sealed for another one or any bit was changed.
    package func open(_ sealed: [UInt8], of owner: [UInt8]) -> [UInt8]? {
        guard sealed.count >= AES256GCM.nonceCount else { return nil }
        return AES256GCM.open(
            Array(sealed[AES256GCM.nonceCount...]), key: key(of: owner),
            nonce: Array(sealed[..<AES256GCM.nonceCount]))
    }

    private func key(of owner: [UInt8]) -> [UInt8] { HMAC.sha256(key: key, owner) }
}
