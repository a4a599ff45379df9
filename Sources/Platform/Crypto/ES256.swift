import COpenSSL

/// A key pair for ECDSA on P-256 with SHA-256, `ES256` in JWS (RFC 7518, section 3.4): signatures are the 64 bytes R || S.
package final class ES256Key: Sendable {
    /// An EVP_PKEY. OpenSSL counts its references with atomics, and it never changes after its creation, so any thread may sign and
    /// verify with it.
    private nonisolated(unsafe) let key: OpaquePointer  // only read

    /// Makes a new key pair.
    package init() {
        guard let key = ossl_es256_generate() else { preconditionFailure("OpenSSL cannot make a P-256 key") }
        self.key = key
    }

    /// Reads a private key in PKCS#8 DER, as returned by ``privateKey``; `nil` for anything else.
    package init?(pkcs8: [UInt8]) {
        var cursor: UnsafePointer<UInt8>?
        let parsed = pkcs8.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            cursor = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, buffer.count)
        }
        guard let parsed else { return nil }
        guard ossl_is_p256(parsed) == 1 else {
            EVP_PKEY_free(parsed)
            return nil
        }
        self.key = parsed
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// The private key in PKCS#8 DER.
    package var privateKey: Secret {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ossl_pkcs8(key, &bytes)
        guard let bytes, count > 0 else { preconditionFailure("OpenSSL cannot write a P-256 key") }
        defer { ossl_free(bytes) }
        return Secret(Array(UnsafeBufferPointer(start: bytes, count: Int(count))))
    }

    /// The coordinates X and Y of the public key, 32 bytes each, as in a JWK (RFC 7518, section 6.2.1).
    package var publicCoordinates: (x: [UInt8], y: [UInt8]) {
        var point = [UInt8](repeating: 0, count: 65)
        var count = 0
        let read = EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count)
        precondition(read == 1 && count == 65 && point[0] == 4, "a P-256 public key is an uncompressed point")
        return (Array(point[1..<33]), Array(point[33..<65]))
    }

    /// Returns a signature of 64 bytes.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        let signed = ossl_es256_sign(key, message, message.count, &signature)
        precondition(signed == 1, "OpenSSL cannot sign")
        return signature
    }

    /// Whether `signature` is this key's signature of `message`; false for any length but 64.
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        signature.count == 64 && ossl_es256_verify(key, message, message.count, signature) == 1
    }
}
