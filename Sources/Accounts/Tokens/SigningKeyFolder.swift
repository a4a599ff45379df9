import Basics
import Crypto
import Glibc

/// The signing keys as files: `es256-1` for the first, and `es256-NUMBER-SECONDS` for a key that replaced the one before it at that
/// time (seconds since 1970).
///
/// The name alone determines when the previous key expires, so a rotation is one rename, which a crash cannot leave half done.
/// Until then the key is a file `next-DIGITS` that signs nothing; if a crash leaves one, the next start removes it.
struct SigningKeyFolder: Sendable {
    /// A tolerance for tokens that are signed during a rotation.
    static let leeway = Duration.seconds(5)

    private static let prefix = "es256"
    private static let pendingPrefix = "next-"

    /// A durable key that does not sign yet.
    struct Pending: Sendable {
        let key: SigningKey
        fileprivate let file: String
    }

    let path: String
    /// The lifetime of a token.
    let lifetime: Duration

    private struct File {
        let name: String
        let number: Int
        /// The time since which it signs; `nil` = from the beginning.
        let since: UnixTime?

        init?(name: String) {
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count), parts[0] == prefix, let number = Int(parts[1]) else { return nil }
            self.name = name
            self.number = number
            guard parts.count == 3 else {
                since = nil
                return
            }
            guard let seconds = Int64(parts[2]), (0...253_402_300_799).contains(seconds) else { return nil }
            since = UnixTime(seconds: seconds)
        }
    }

    /// Returns the keys, of which the one with the highest number signs; creates the first key in an empty folder. Removes the files
    /// of expired keys and of keys that never signed. Called at start.
    ///
    /// - Throws: ``SigningKeyError``.
    func open(_ permit: DeletionPermit?) throws -> SigningKeys {
        for name in try FolderListing.names(in: path) where name.hasPrefix(Self.pendingPrefix) {
            try PrivateFile.remove("\(path)/\(name)")
        }
        return try read(permit)
    }

    /// Returns the keys as their files are now; otherwise like ``open(_:)``.
    ///
    /// - Parameter permit: `nil` = no expired key is removed, although it verifies nothing any more.
    /// - Throws: ``SigningKeyError``.
    func read(_ permit: DeletionPermit?) throws -> SigningKeys {
        let files = try self.files()
        guard let newest = files.last else {
            let key = ES256Key()
            try PrivateFile.write(key.privateKey.exposed, to: "\(path)/\(Self.prefix)-1")
            return SigningKeys(current: SigningKey(key))
        }
        var older: [SigningKey] = []
        for (file, next) in zip(files, files.dropFirst()) {
            let endsAt = next.since?.adding(lifetime + Self.leeway)
            let key = SigningKey(try read(file), endsAt: endsAt)
            if let permit, !key.verifies(at: try permit.now()) {
                try PrivateFile.remove("\(path)/\(file.name)")
            } else {
                older.append(key)
            }
        }
        return SigningKeys(current: SigningKey(try read(newest)), older: older)
    }

    /// Returns what is wrong with the files, as sentences; changes nothing.
    func problems() throws -> [String] {
        let files = try files()
        guard !files.isEmpty else {
            return [
                """
                the folder \(path) has no signing key: restore it from a backup, or start the gateway, which makes a new one \
                (access tokens that the missing one signed are refused then, and clients have to sign in again)
                """
            ]
        }
        return files.compactMap { file in
            do {
                _ = try read(file)
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    /// Whether there is any key.
    var holdsKeys: Bool { get throws { try !files().isEmpty } }

    /// Creates a key; ``activate(_:at:_:)`` makes it the signing key, ``discard(_:)`` removes it.
    func makePending() throws -> Pending {
        let key = ES256Key()
        let file = "\(path)/\(Self.pendingPrefix)\(Hex.lower(Random.bytes(8)))"
        try PrivateFile.write(key.privateKey.exposed, to: file)
        return Pending(key: SigningKey(key), file: file)
    }

    /// Makes a key the signing key from `now` on. One call at a time.
    ///
    /// - Returns: all keys, like ``read(_:)``.
    func activate(_ pending: Pending, at now: UnixTime, _ permit: DeletionPermit?) throws -> SigningKeys {
        let number = (try files().last?.number ?? 0) + 1
        try PrivateFile.move(
            pending.file, to: "\(path)/\(Self.prefix)-\(number)-\(now.seconds)")
        try PrivateFile.synchronizeFolder(path)
        return try read(permit)
    }

    func discard(_ pending: Pending) {
        // If this fails, the next start removes it.
        try? PrivateFile.remove(pending.file)
    }

    private func files() throws -> [File] {
        try FolderListing.names(in: path).compactMap(File.init(name:))
            .sorted { $0.number < $1.number }
    }

    private func read(_ file: File) throws -> ES256Key {
        let path = "\(path)/\(file.name)"
        guard let bytes = try? PrivateFile.read(path), let key = ES256Key(pkcs8: bytes) else {
            throw SigningKeyError(path: path)
        }
        return key
    }
}

/// An existing signing key that cannot be read.
struct SigningKeyError: Error, CustomStringConvertible {
    let path: String

    var description: String {
        """
        the signing key \(path) is not a readable P-256 private key: restore it from a backup, or remove it \
        (the gateway then refuses the tokens that it signed, and clients have to sign in again)
        """
    }
}

extension Accounts {
    /// Returns what is wrong with the signing keys in a folder, as sentences; changes nothing.
    package static func signingKeyProblems(inFolder path: String) throws -> [String] {
        try SigningKeyFolder(path: path, lifetime: .zero).problems()
    }

    /// Whether a folder exists and has signing keys, as after any complete start.
    package static func hasSigningKeys(inFolder path: String) throws -> Bool {
        try PrivateFile.exists(path) && SigningKeyFolder(path: path, lifetime: .zero).holdsKeys
    }
}
