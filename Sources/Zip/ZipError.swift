/// The reason why an archive is rejected, or an entry cannot be written.
package enum ZipError: Error, Hashable, Sendable {
    /// The archive has no end record at its end: it was cut short, or it is no zip archive.
    case noEndRecord
    /// A record contradicts the format or another record.
    case malformed(String)
    /// The archive uses a feature that is not supported.
    case unsupported(String)
    /// The archive exceeds a limit of ``ZipLimits``.
    case limitExceeded(String)
    /// The name of an entry is not allowed; see ``ZipEntry/isValid(name:)``.
    case invalidName(String)
    /// Two entries have the same name.
    case duplicateName(String)
    /// The bytes of an entry do not match its size or checksum, or are no complete deflate stream.
    case corrupted(name: String)
    /// The archive cannot be read from the disk; the number is an `errno`.
    case unreadable(Int32)
}

extension ZipError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noEndRecord: "the archive has no end record: it was cut short, or it is not a zip archive"
        case .malformed(let problem): "the archive is malformed: \(problem)"
        case .unsupported(let feature): "the archive uses a feature that is not supported: \(feature)"
        case .limitExceeded(let limit): "the archive exceeds a limit: \(limit)"
        case .invalidName(let name):
            "the archive has an entry with an invalid name: \(name.debugDescription.prefix(300))"
        case .duplicateName(let name): "the archive has two entries with the name \(name.debugDescription)"
        case .corrupted(let name): "the entry \(name.debugDescription) of the archive is corrupted"
        case .unreadable(let code): "the archive cannot be read (errno \(code))"
        }
    }
}
