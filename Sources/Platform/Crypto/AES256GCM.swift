import Basics
import COpenSSL

/// AES with a 256-bit key in Galois/Counter Mode (NIST SP 800-38D), which encrypts and authenticates.
package enum AES256GCM {
    /// The length of the authentication tag that sealing appends, in bytes.
    package static let tagCount = 16
    package static let nonceCount = 12

    /// Encrypts and authenticates.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never used twice with the same key.
    /// - Returns: the ciphertext, as long as `plain`, followed by the tag.
    package static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
        precondition(key.count == 32 && nonce.count == nonceCount, "AES-256-GCM takes 32 and 12 bytes")
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: plain.count + tagCount)
        var written: Int32 = 0
        var rest: Int32 = 0
        var isDone = EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
        isDone = isDone && EVP_EncryptUpdate(context, &sealed, &written, plain, Int32(plain.count)) == 1
        isDone = isDone && EVP_EncryptFinal_ex(context, nil, &rest) == 1
        isDone =
            isDone
            && sealed.withUnsafeMutableBytes {
                EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), $0.baseAddress?.advanced(by: plain.count)) == 1
            }
        precondition(isDone, "OpenSSL cannot encrypt")
        return sealed
    }

    /// Returns the bytes that were sealed; `nil` if key or nonce differ or any bit was changed.
    package static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard key.count == 32, nonce.count == nonceCount, sealed.count >= tagCount else { return nil }
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        let count = sealed.count - tagCount
        var tag = Array(sealed[count...])
        var plain = [UInt8](repeating: 0, count: max(1, count))
        var written: Int32 = 0
        var rest: Int32 = 0
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(context, &plain, &written, sealed, Int32(count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag) == 1,
            EVP_DecryptFinal_ex(context, nil, &rest) == 1
        else { return nil }
        return Array(plain.prefix(count))
    }
}

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
