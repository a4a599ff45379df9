import Basics
import Crypto

/// The signing keys of versions before 0.3.0 as files of the folder `keys`: `es256-1` for the first, and `es256-NUMBER-SECONDS` for a
/// key that replaced the one before it at that time (seconds since 1970). A file `next-DIGITS` is of a rotation that did not finish.
struct SigningKeyFiles: Sendable {
    /// A key and the time since which it signs.
    struct Key: Sendable {
        let key: ES256Key
        let signsFrom: UnixTime

        init(_ key: ES256Key, signsFrom: UnixTime) {
            self.key = key
            self.signsFrom = signsFrom
        }
    }

    let path: String

    /// Returns the keys in the order in which they sign.
    ///
    /// - Throws: ``Unreadable``.
    func read() throws -> [Key] {
        try keyNames().map { name in
            guard let bytes = try PrivateFile.read("\(path)/\(name)"), let key = ES256Key(pkcs8: bytes) else {
                throw Unreadable(path: "\(path)/\(name)")
            }
            let parts = name.split(separator: "-")
            let seconds = parts.count == 3 ? Int64(parts[2]) ?? 0 : 0
            return Key(key, signsFrom: UnixTime(seconds: min(max(0, seconds), 253_402_300_799)))
        }
    }

    /// Removes the files, when the database has the keys. The key that signed last of all is removed last: an earlier version that is
    /// started in between must not sign with one that was replaced.
    func remove() throws {
        let unfinished = try names().filter { $0.hasPrefix("next-") }
        let files = unfinished + (try keyNames())
        for name in files {
            try PrivateFile.remove("\(path)/\(name)")
            try PrivateFile.synchronizeFolder(path)
        }
    }

    /// Whether there is a key.
    var exist: Bool { get throws { try !keyNames().isEmpty } }

    /// Returns the names of the keys in the order in which they sign.
    private func keyNames() throws -> [String] {
        let numbered = try names().compactMap { name -> (number: Int, name: String)? in
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count), parts[0] == "es256", let number = Int(parts[1]) else { return nil }
            return (number, name)
        }
        return numbered.sorted { $0.number < $1.number }.map(\.name)
    }

    private func names() throws -> [String] {
        try PrivateFile.exists(path) ? FolderListing.names(in: path) : []
    }

    /// A file that is no key.
    struct Unreadable: Error, CustomStringConvertible {
        let path: String

        var description: String {
            """
            the signing key \(path) is not a readable P-256 private key: restore it from a backup, or remove it \
            (the gateway then refuses the tokens that it signed, and clients have to sign in again)
            """
        }
    }
}

extension Accounts {
    /// Whether a folder has signing keys of a version before 0.3.0.
    package static func hasSigningKeyFiles(inFolder path: String) throws -> Bool {
        try SigningKeyFiles(path: path).exist
    }
}
