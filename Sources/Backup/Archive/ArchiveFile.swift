import Crypto

/// An archive on disk, encrypted or not.
enum ArchiveFile {
    /// Opens the archive for reading.
    ///
    /// - Throws: ``ArchiveError`` `passphraseMissing`, `passphraseUnexpected`, `wrongPassphrase` and others.
    static func open(_ path: String, passphrase: Secret?) throws -> any ArchiveSource {
        let start = try FileSource(path: path).read(SealedFormat.magic.count)
        guard start.starts(with: SealedFormat.family) else {
            guard passphrase == nil || !start.starts(with: ArchiveRecord.family) else {
                throw ArchiveError.passphraseUnexpected
            }
            return try FileSource(path: path)
        }
        guard start == SealedFormat.magic else { throw ArchiveError.newer }
        guard let passphrase else { throw ArchiveError.passphraseMissing }
        let file = try FileSource(path: path)
        _ = try file.readExactly(SealedFormat.magic.count)
        return try SealedSource(file, passphrase: passphrase)
    }
}
