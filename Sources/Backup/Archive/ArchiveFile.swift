import Crypto

/// An archive, encrypted or not.
enum ArchiveFile {
    /// Opens the archive for reading.
    ///
    /// - Throws: ``ArchiveError`` `passphraseMissing`, `passphraseUnexpected`, `wrongPassphrase` and others.
    static func open(_ path: String, passphrase: Secret?) throws -> any ArchiveSource {
        try open(passphrase: passphrase) { try FileSource(path: path) }
    }

    /// Opens an archive anywhere for reading.
    ///
    /// - Parameter source: returns the archive's bytes from the first on; called twice.
    static func open(passphrase: Secret?, _ source: () throws -> any ArchiveSource) throws -> any ArchiveSource {
        let start = try source().read(SealedFormat.magic.count)
        guard start.starts(with: SealedFormat.family) else {
            guard passphrase == nil || !start.starts(with: ArchiveRecord.family) else {
                throw ArchiveError.passphraseUnexpected
            }
            return try source()
        }
        guard start == SealedFormat.magic else { throw ArchiveError.newer }
        guard let passphrase else { throw ArchiveError.passphraseMissing }
        let file = try source()
        _ = try file.readExactly(SealedFormat.magic.count)
        return try SealedSource(file, passphrase: passphrase)
    }
}
