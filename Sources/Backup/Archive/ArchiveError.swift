/// The reason why an archive cannot be restored. Nothing was put in place.
package enum ArchiveError: Error, Sendable, Equatable, CustomStringConvertible {
    case unreadable(String)
    case notAnArchive
    /// The archive has a later version of the format.
    case newer
    case truncated
    /// Some bytes differ from those that were written.
    case altered(String)
    case passphraseMissing
    case passphraseUnexpected
    /// The passphrase is wrong, or the first bytes of the file were altered, which cannot be distinguished.
    case wrongPassphrase

    package var description: String {
        switch self {
        case .unreadable(let reason): "the archive cannot be read: \(reason)"
        case .notAnArchive: "the file is not an archive of data-gateway backup"
        case .newer: "the archive was written by a newer data-gateway: restore it with that version"
        case .truncated: "the archive is cut off: its end is missing"
        case .altered(let what): "the archive is damaged: \(what)"
        case .passphraseMissing: "the archive is encrypted: set --passphrase-file to the file with its passphrase"
        case .passphraseUnexpected: "the archive is not encrypted: remove --passphrase-file"
        case .wrongPassphrase: "the passphrase is wrong, or the first bytes of the archive are damaged"
        }
    }
}
