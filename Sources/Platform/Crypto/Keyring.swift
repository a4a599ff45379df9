import Basics

/// The server's root secret of 256 bits in `DIR/keys/root`, from which every key is derived by a label and a number (HKDF-Expand
/// with SHA-256, RFC 5869 section 2.3).
///
/// A rotation of a key increases its number; keys with lower numbers continue to verify what they signed.
package struct Keyring: Sendable {
    /// The purpose of a derived key; two labels never share a key.
    package enum Label: String, Sendable {
        /// The HMAC key for secrets of API keys and refresh tokens, of which only the HMAC is stored.
        case pepper
        /// The MAC key for security tokens in temporary credentials and for the secrets derived from them.
        case temporaryCredentials = "temporary-credentials"
        /// The MAC key of page tokens.
        case pageTokens = "page-tokens"
        /// The encryption key for the contents of page tokens.
        case pageCursors = "page-cursors"
        /// The encryption key of sign-ins in progress at an identity provider.
        case signInFlows = "sign-in-flows"
        /// The MAC key of nonces for identity tokens.
        case identityNonces = "identity-nonces"
        /// The encryption key for the tokens of the console's sessions.
        case consoleSessions = "console-sessions"
        /// The encryption key for the secrets of authenticator apps.
        case secondFactors = "second-factors"
        /// The encryption key for the private keys that sign access tokens.
        case signingKeys = "signing-keys"
        /// The MAC key of challenges between the two steps of a sign-in.
        case signInChallenges = "sign-in-challenges"
        /// The encryption key for responses to calls that a balancer may send again.
        case keptResponses = "kept-responses"
        /// No key, but the value by which a database recognizes its root; see ``Keyring/checkValue``.
        case rootCheck = "root-check"
    }

    /// The length of the root secret in bytes.
    package static let rootLength = 32

    private let root: Secret

    package init(root: Secret) {
        self.root = root
    }

    /// Reads a file, or creates it (mode 0600, folder 0700, both synced) if `create` is true.
    ///
    /// - Parameter create: true only for a new data directory: a database without its root key must not be used.
    package static func open(_ path: String, create: Bool) throws(KeyringError) -> Keyring {
        let known: [UInt8]?
        do {
            known = try PrivateFile.read(path)
        } catch {
            throw .unreadable(reason: error.reason)
        }
        if let bytes = known {
            guard bytes.count == rootLength else { throw .damaged(path: path) }
            return Keyring(root: Secret(bytes))
        }
        guard create else { throw .missing(path: path) }
        let root = Random.bytes(rootLength)
        do {
            try PrivateFile.makeFolder(Path.folder(of: path))
            try PrivateFile.write(root, to: path)
        } catch {
            throw .notWritable(path: path, reason: error.reason)
        }
        return Keyring(root: Secret(root))
    }

    /// Returns the 32 bytes of the key for `label` and `number`.
    package func key(_ label: Label, number: UInt32 = 1) -> [UInt8] {
        derived("\(label.rawValue) \(number)")
    }

    /// Returns the 32 bytes of the key of an app for `purpose` and `number`. It differs from every key for a label, since those
    /// contain no spaces.
    package func key(ofApp name: String, for purpose: String, number: UInt32 = 1) -> [UInt8] {
        derived("app \(name) \(purpose) \(number)")
    }

    /// A value that the database keeps in order to recognize its root key. It says nothing about the root or the keys.
    package var checkValue: [UInt8] { key(.rootCheck) }

    /// The first digits of a digest of ``checkValue``, by which people compare root keys.
    package var fingerprint: String { Self.fingerprint(ofCheckValue: checkValue) }

    package static func fingerprint(ofCheckValue value: [UInt8]) -> String {
        Hex.lower(Digest.sha256(value)[..<8])
    }

    private func derived(_ label: String) -> [UInt8] {
        // One block of HKDF-Expand: the root is uniformly random already, so Extract has nothing to do (section 3.3).
        HMAC.sha256(key: root.exposed, Array("data-gateway \(label)".utf8) + [1])
    }
}

/// The reason why the server's keys cannot be used. Each description says what to do.
package enum KeyringError: Error, Sendable, CustomStringConvertible {
    case missing(path: String)
    case damaged(path: String)
    /// It is not the key with which the database was used.
    case foreign(path: String, database: String)
    /// The reason contains the path.
    case unreadable(reason: String)
    case notWritable(path: String, reason: String)

    package var description: String {
        switch self {
        case .missing(let path):
            "the root key \(path) is missing, but the database exists: restore the key from the backup of the database"
        case .damaged(let path):
            "the root key \(path) is damaged (it must be 32 bytes): restore it from a backup"
        case .foreign(let path, let database):
            """
            the root key \(path) is not that of the database \(database), which would refuse every device: put back the keys \
            that belong to this database, or restore a backup, which contains both; if the right key is lost, \
            'data-gateway doctor --accept-root-key' accepts this one, and every device needs a new key
            """
        case .unreadable(let reason): "cannot read the gateway's root key: \(reason)"
        case .notWritable(let path, let reason):
            "cannot write the root key \(path): \(reason)"
        }
    }
}
