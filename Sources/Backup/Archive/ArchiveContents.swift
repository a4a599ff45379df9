import Basics
import Crypto
import ObjectStore

/// The records of an archive in their order, compared with its manifest and its list of objects.
struct ArchiveContents {
    private let archive: ArchiveReader
    let manifest: Manifest

    /// Reads the manifest.
    ///
    /// - Throws: ``ArchiveError``.
    init(_ source: any ArchiveSource) throws {
        archive = try ArchiveReader(source)
        guard try archive.next()?.kind == .manifest, let manifest = Manifest(try archive.bytes(limit: Manifest.limit))
        else { throw ArchiveError.altered("it does not begin with its manifest") }
        guard manifest.format == DataDirectory.format else { throw ArchiveError.newer }
        self.manifest = manifest
    }

    /// Reads the rest of the archive: database, keys and list into the stage, and each object with its facts. On return the whole
    /// archive is known to be unaltered.
    ///
    /// - Parameters:
    ///   - object: called for each object; reads its data with ``forEachPiece(_:)``.
    ///   - absent: called for each object of the list without data in the archive.
    func read(
        into stage: RestoreStage, object: (StoredFile, _ facts: [UInt8]?) throws -> Void,
        absent: (StoredFile) throws -> Void
    ) throws {
        guard try archive.next()?.kind == .database else { throw ArchiveError.altered("its database is missing") }
        try stage.write("gateway.db", archive.forEachPiece)
        var record = try archive.next()
        while let key = record, key.kind == .key {
            guard KeyName.isValid(key.name) else { throw ArchiveError.altered("a key has no name") }
            try stage.write("keys/\(key.name)", archive.forEachPiece)
            record = try archive.next()
        }
        guard record?.kind == .list, record?.length == Int64(manifest.objects * StoredFile.entryCount) else {
            throw ArchiveError.altered("its object list is missing")
        }
        try stage.write("list", archive.forEachPiece)
        let list = try stage.list()
        var facts: [UInt8]?
        while let record = try archive.next() {
            switch record.kind {
            case .facts:
                facts = try archive.bytes(limit: 16 << 20)
            case .object:
                let file = try list.advance(to: record, passOver: absent)
                try object(file, facts)
                facts = nil
            case .manifest, .database, .key, .list, .end:
                throw ArchiveError.altered("a record is out of order")
            }
        }
        while let file = try list.next() { try absent(file) }
    }

    /// Reads the data of the current object piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try archive.forEachPiece(body)
    }
}

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

/// An entry in an archive's list of objects: file id, size and CRC-64 in 32 bytes.
extension StoredFile {
    static let entryCount = 32

    /// The entry; `nil` for an id that is not 32 hexadecimal digits, or a negative size.
    var listEntry: [UInt8]? {
        guard size >= 0, let id = Hex.decode(fileID), id.count == 16 else { return nil }
        return id + size.bigEndianBytes + crc64.bigEndianBytes
    }

    init?(listEntry: [UInt8]) {
        guard listEntry.count == Self.entryCount, let size = Int64(exactly: UInt64(bigEndianBytes: listEntry[16..<24]))
        else {
            return nil
        }
        self.init(fileID: Hex.lower(listEntry[..<16]), size: size, crc64: UInt64(bigEndianBytes: listEntry[24...]))
    }
}
