import Basics
import Database
import DirectoryEngine
import FoundationEssentials
import ObjectStore

/// Writes one archive of a running gateway, from a copy of its database. Blocks.
struct BackupRun: Sendable {
    struct Summary: Sendable {
        var objects = 0
        var bytes: Int64 = 0
        var missing = 0
        var damaged = Tally()
    }

    /// The path of a copy of the database that is not written any more.
    let copy: String
    /// The data directory, whose keys are written.
    let directory: DataDirectory
    let store: ObjectStore
    let includesObjects: Bool
    let now: UnixTime

    func write(to sink: any ArchiveSink) throws -> Summary {
        try Database.inspect(path: copy) { connection in
            var summary = Summary()
            guard let identity = try StoreIdentity.recorded(in: connection) else {
                throw DataDirectory.Problem(description: "the database does not name its store")
            }
            summary.objects = try StoredFile.count(in: connection)
            let archive = try ArchiveWriter(sink)
            let manifest = Manifest(
                format: DataDirectory.format, storeID: identity.id, generation: identity.generation,
                createdAt: Self.timestamp(now), objects: summary.objects, hasObjects: includesObjects)
            try archive.write(.manifest, try manifest.encoded)
            try writeDatabase(archive)
            for (name, path) in try keyFiles() {
                guard let key = try PrivateFile.read(path) else { continue }
                try archive.write(.key, name: name, key)
            }
            try archive.begin(.list, length: Int64(summary.objects * StoredFile.entryCount))
            try StoredFile.forEach(in: connection) { file in
                guard let entry = file.listEntry else {
                    throw DataDirectory.Problem(
                        description: "the database names an object file with the invalid id \(file.fileID)")
                }
                try archive.append(entry)
            }
            if includesObjects {
                try StoredFile.forEach(in: connection) { try write($0, to: archive, &summary) }
            }
            try archive.finish()
            return summary
        }
    }

    /// Returns the files of keys with their names in the archive, also the root key if it is in another folder.
    private func keyFiles() throws -> [(name: String, path: String)] {
        let keys = directory.keys
        let names = try PrivateFile.exists(keys) ? FolderListing.names(in: keys).filter(KeyName.isValid).sorted() : []
        let own = names.map { (name: $0, path: "\(keys)/\($0)") }
        if directory.hasOwnRootKey { return own }
        return own.filter { $0.path != DataDirectory.ownRootKey(directory.path) } + [("root", directory.rootKey)]
    }

    private func write(_ file: StoredFile, to archive: ArchiveWriter, _ summary: inout Summary) throws {
        let isWhole = try store.read(file) {
            if let facts = store.facts(of: file.fileID) { try archive.write(.facts, name: file.fileID, facts) }
            try archive.begin(.object, name: file.fileID, length: file.size)
        } _: { piece in
            try archive.append(piece)
        }
        switch isWhole {
        case nil: summary.missing += 1
        case false?: summary.damaged.add(file.fileID)
        case true?: break
        }
        if isWhole != nil { summary.bytes += file.size }
    }

    private func writeDatabase(_ archive: ArchiveWriter) throws {
        let size = try PrivateFile.size(of: copy)
        try archive.begin(.database, length: size)
        let source = try FileSource(path: copy)
        var written: Int64 = 0
        while true {
            let bytes = try source.read(1 << 18)
            if bytes.isEmpty { break }
            try archive.append(bytes)
            written += Int64(bytes.count)
        }
        guard written == size else {
            throw ArchiveError.unreadable("the copy of the database changed during the backup")
        }
    }

    /// Returns the time in RFC 3339, UTC.
    static func timestamp(_ time: UnixTime) -> String {
        Date(timeIntervalSince1970: Double(time.seconds)).formatted(.iso8601)
    }
}

/// The rule for names of files in `keys/`: letters, digits and hyphens, so that no name in an archive refers to another folder.
enum KeyName {
    static func isValid(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
    }
}
