import COpenSSL

/// A hash function that OpenSSL provides.
package enum HashFunction: Sendable {
    /// 16 bytes; for ETag and Content-MD5 only, never for anything that must resist an attacker.
    case md5
    /// 20 bytes; for the OSS V1 signature only.
    case sha1
    /// 32 bytes.
    case sha256

    fileprivate var algorithm: OpaquePointer {
        switch self {
        case .md5: Self.fetchedMD5
        case .sha1: Self.fetchedSHA1
        case .sha256: Self.fetchedSHA256
        }
    }

    fileprivate var name: String {
        switch self {
        case .md5: "MD5"
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        }
    }

    // Looked up once: OpenSSL searches for the implementation under a lock at each use of the older functions, which takes longer
    // than to hash a short text. `nonisolated(unsafe)`: nothing changes behind the pointers.
    private nonisolated(unsafe) static let fetchedMD5 = fetch(.md5)  // only read
    private nonisolated(unsafe) static let fetchedSHA1 = fetch(.sha1)  // only read
    private nonisolated(unsafe) static let fetchedSHA256 = fetch(.sha256)  // only read

    private static func fetch(_ function: HashFunction) -> OpaquePointer {
        guard let algorithm = EVP_MD_fetch(nil, function.name, nil) else {
            preconditionFailure("OpenSSL has no \(function.name)")
        }
        return algorithm
    }

    fileprivate var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        }
    }
}

/// The hash of bytes that are completely in memory.
package enum Digest {
    package static func md5(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, .md5) }

    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, .sha1) }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, .sha256) }

    private static func hash(_ bytes: [UInt8], _ function: HashFunction) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: function.byteCount)
        let isMade = EVP_Digest(bytes, bytes.count, &digest, nil, function.algorithm, nil) == 1
        precondition(isMade, "OpenSSL has no memory for a hash")
        return digest
    }
}

/// The hash of bytes that arrive in pieces. Used by one thread at a time.
package final class IncrementalDigest {
    private let function: HashFunction
    private let context: OpaquePointer

    package init(_ function: HashFunction) {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, function.algorithm, nil) == 1 else {
            preconditionFailure("OpenSSL has no memory for a hash")
        }
        self.function = function
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// Returns the digest and starts a new message.
    package func finalize() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: function.byteCount)
        EVP_DigestFinal_ex(context, &digest, nil)
        EVP_DigestInit_ex(context, function.algorithm, nil)
        return digest
    }
}

/// Keyed digests (RFC 2104).
package enum HMAC {
    package static func sha1(key: [UInt8], _ message: [UInt8]) -> [UInt8] { authenticate(key, message, .sha1) }

    package static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] { authenticate(key, message, .sha256) }

    // Looked up once, like the hash functions. `nonisolated(unsafe)`: they are only copied.
    private nonisolated(unsafe) static let sha1Template = template(.sha1)  // only copied
    private nonisolated(unsafe) static let sha256Template = template(.sha256)  // only copied

    private static func template(_ function: HashFunction) -> OpaquePointer {
        guard let context = ossl_hmac(function.name) else { preconditionFailure("OpenSSL has no HMAC") }
        return context
    }

    private static func authenticate(_ key: [UInt8], _ message: [UInt8], _ function: HashFunction) -> [UInt8] {
        let context = EVP_MAC_CTX_dup(function == .sha1 ? sha1Template : sha256Template)
        defer { EVP_MAC_CTX_free(context) }
        var code = [UInt8](repeating: 0, count: function.byteCount)
        var count = 0
        // The pointer must not be `nil` even if the key is empty.
        let isKeyed = (key.isEmpty ? [0] : key).withUnsafeBufferPointer {
            EVP_MAC_init(context, $0.baseAddress, key.count, nil) == 1
        }
        let isMade =
            isKeyed && EVP_MAC_update(context, message, message.count) == 1
            && EVP_MAC_final(context, &code, &count, code.count) == 1
        precondition(isMade, "OpenSSL has no memory for an HMAC")
        return code
    }
}

/// Compares two byte strings in a time that depends on their lengths only.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}

/// The MAC with which the gateway shows a device that a message comes from somebody who has the device's key.
package enum DeviceMAC {
    private static let info = "data-gateway address announcement 1"

    /// Returns the 32 bytes of HMAC-SHA256 of the message. Its key is HKDF-SHA256 (RFC 5869) of the credential.
    package static func addressAnnouncement(_ message: [UInt8], credential: String) -> [UInt8] {
        // Extract without a salt, and one block of Expand (RFC 5869, sections 2.2 and 2.3).
        let extracted = HMAC.sha256(key: [UInt8](repeating: 0, count: 32), Array(credential.utf8))
        return HMAC.sha256(key: HMAC.sha256(key: extracted, Array(info.utf8) + [1]), message)
    }
}
