import Basics
import Foundation

/// The server's own secret: one root of 256 bits in `DIR/keys/root`, from which every key is derived
/// by a label and a number (HKDF-Expand with SHA-256, RFC 5869 section 2.3).
///
/// A rotation of one key raises its number; lower numbers go on verifying what they signed.
package struct Keyring: Sendable {
    /// What a derived key is for; two labels never share a key.
    package enum Label: String, Sendable {
        /// HMAC key over API-key and refresh-token secrets, which are stored as its output.
        case pepper
        /// MAC key of the security tokens in temporary credentials, and of their derived secrets.
        case temporaryCredentials = "temporary-credentials"
        /// MAC key of page tokens.
        case pageTokens = "page-tokens"
        /// Encryption key of what page tokens say.
        case pageCursors = "page-cursors"
    }

    private let root: Secret

    package init(root: Secret) {
        self.root = root
    }

    /// Reads `directory/root`, or makes it (0600, folder 0700, both synced) where `create` allows.
    ///
    /// - Throws: `KeyringError`: a database without its root must not be started, so the caller says `create` only for a
    ///   data directory that is new.
    package static func open(directory: String, create: Bool) throws(KeyringError) -> Keyring {
        let path = directory + "/root"
        let known: [UInt8]?
        do {
            known = try PrivateFile.read(path)
        } catch {
            throw .unreadable(reason: error.reason)
        }
        if let bytes = known {
            guard bytes.count == 32 else { throw .damaged(path: path) }
            return Keyring(root: Secret(bytes))
        }
        guard create else { throw .missing(path: path) }
        let root = Random.bytes(32)
        do {
            try PrivateFile.makeFolder(directory)
            try PrivateFile.write(root, to: path)
        } catch {
            throw .notWritable(path: path, reason: error.reason)
        }
        return Keyring(root: Secret(root))
    }

    /// 32 bytes for `label` and `number`.
    package func key(_ label: Label, number: UInt32 = 1) -> [UInt8] {
        // One block of HKDF-Expand: the root is uniformly random already, so Extract has nothing to do (section 3.3).
        HMAC.sha256(key: root.exposed, Array("data-gateway \(label.rawValue) \(number)".utf8) + [1])
    }
}

/// Why the server's keys cannot be used. Each description says what to do.
package enum KeyringError: Error, Sendable, CustomStringConvertible {
    case missing(path: String)
    case damaged(path: String)
    /// The reason names the path.
    case unreadable(reason: String)
    case notWritable(path: String, reason: String)

    package var description: String {
        switch self {
        case .missing(let path):
            "the root key \(path) is missing, but the database exists: restore the key from the backup of the database"
        case .damaged(let path):
            "the root key \(path) is damaged (it must be 32 bytes): restore it from a backup"
        case .unreadable(let reason): "cannot read the gateway's root key: \(reason)"
        case .notWritable(let path, let reason):
            "cannot write the root key \(path): \(reason)"
        }
    }
}
