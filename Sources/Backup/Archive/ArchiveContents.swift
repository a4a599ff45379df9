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
