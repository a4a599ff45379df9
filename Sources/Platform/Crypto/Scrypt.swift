import COpenSSL

/// scrypt (RFC 7914): derives a key from a passphrase at a cost that makes guessing expensive.
package enum Scrypt {
    /// Derives with N = 2^17, r = 8, p = 1: 128 MiB of memory and about half a second.
    ///
    /// - Returns: `nil` if there is not enough memory.
    package static func derive(_ passphrase: Secret, salt: [UInt8], count: Int) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: count)
        let secret = passphrase.exposed
        let made = secret.withUnsafeBytes { bytes in
            EVP_PBE_scrypt(
                bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count, salt, salt.count, 1 << 17, 8, 1,
                256 << 20, &key, key.count)
        }
        return made == 1 ? key : nil
    }
}
