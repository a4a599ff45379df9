import COpenSSL

/// Bytes that must not be shown: printing, interpolating or dumping a secret gives `***`.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// The first line of a file.
    ///
    /// - Parameter least: the smallest number of bytes; a shorter line gives `nil`.
    package init?(firstLineOf bytes: [UInt8], least: Int) {
        let line = Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })
        guard line.count >= least else { return nil }
        self.init(line)
    }

    /// The bytes themselves. The name makes each use of the bare secret visible in the code.
    package var exposed: [UInt8] { bytes }

    /// The bytes as text.
    package var exposedText: String { String(decoding: bytes, as: UTF8.self) }

    package var description: String { "***" }

    package var debugDescription: String { "***" }

    package var customMirror: Mirror { Mirror(self, children: []) }

    package func matches(_ other: Secret) -> Bool { constantTimeEqual(bytes, other.bytes) }
}

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
