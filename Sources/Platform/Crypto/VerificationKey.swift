import COpenSSL

/// A public key that verifies the signatures of another party, RS256 or ES256 (RFC 7518, sections 3.3 and 3.4).
package final class VerificationKey: Sendable {
    package enum Algorithm: String, Sendable, CaseIterable {
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
        /// ECDSA on P-256 with SHA-256; signatures are the 64 bytes R || S.
        case es256 = "ES256"
    }

    package let algorithm: Algorithm
    /// An EVP_MD_CTX with the key, initialized once, because OpenSSL searches for its implementations at each initialization.
    private nonisolated(unsafe) let verifier: OpaquePointer  // only copied

    /// - Parameters:
    ///   - modulus: `n`, big-endian without leading zeros, 2048 to 8192 bits.
    ///   - exponent: `e`, big-endian without leading zeros, odd, 3 to 2⁶⁴ − 1.
    /// - Returns: `nil` for other numbers. A small or even exponent, or a short modulus, makes signatures forgeable; a long one
    ///   makes their verification slow.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        guard let first = modulus.first, first != 0, let last = modulus.last, last & 1 == 1,
            (2048...8192).contains(modulus.count * 8 - first.leadingZeroBitCount),
            let low = exponent.last, low & 1 == 1, exponent.first != 0, exponent.count <= 8, exponent != [1],
            let key = ossl_rsa_public(modulus, modulus.count, exponent, exponent.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let verifier = ossl_verifier(key) else { return nil }
        algorithm = .rs256
        self.verifier = verifier
    }

    /// - Parameters: the coordinates of a point on P-256, 32 bytes each.
    /// - Returns: `nil` if there is no such point.
    package init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        var point = [4] + x + y
        guard let key = ossl_p256_public(&point) else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let verifier = ossl_verifier(key) else { return nil }
        algorithm = .es256
        self.verifier = verifier
    }

    deinit {
        EVP_MD_CTX_free(verifier)
    }

    /// Whether `signature` is the key's signature of `message`.
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard algorithm == .es256 else {
            return ossl_verify(verifier, message, message.count, signature, signature.count) == 1
        }
        guard signature.count == 64 else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(ossl_es256_der_size)) { der in
            let count = ossl_es256_der(signature, der.baseAddress)
            return ossl_verify(verifier, message, message.count, der.baseAddress, count) == 1
        }
    }
}
