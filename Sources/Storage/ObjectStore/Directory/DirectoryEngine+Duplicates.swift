import Basics
import Crypto
import Glibc

/// Files that share their bytes with another one: two names of one file, each of which goes by itself, in any order.
///
/// A finished file without a row goes to quarantine after an unclean end. So that a duplicate whose commit did not come does
/// not, `duplicates/<file id>` marks it from before it has its name until its row is there; see ``Reconciler``.
extension DirectoryEngine {
    /// In this order: the mark is durable, the name is made, the name is durable. The row commits after that, and then the
    /// mark goes.
    func duplicate(_ fileID: String) throws -> NewFile {
        let id = Hex.lower(Random.bytes(16))
        pending.add(id, isDuplicate: true)
        do {
            let mark = Glibc.open(markPath(of: id), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard mark >= 0, close(mark) == 0 else { throw StorageFailure.last() }
            try calls.synchronizeFolder("\(path)/duplicates")
            guard calls.link(path(of: fileID), path(of: id)) == 0 else { throw StorageFailure.lastOfReading() }
            let new = NewFile(id, NoBody(), in: self)
            try calls.synchronizeFolder(folder(of: id))
            return new
        } catch StorageFailure.missing {
            settle(id)
            throw StorageFailure.missing
        } catch {
            settle(id)
            return try copied(fileID)
        }
    }

    /// Where the file system gives no second name (it has no such names, or too many of this file).
    private func copied(_ fileID: String) throws -> NewFile {
        let new = try create()
        guard let target = new.sink as? DataFile else { throw StorageFailure.missing }
        target.setDirect(false)
        let source = try open(fileID, for: .reading)
        try target.copy(source, length: try source.size(), to: 0)
        try target.synchronizeAndClose()
        return new
    }

    /// Whether no commit of this file is known to have come.
    func isUnsettledDuplicate(_ fileID: String) throws(StorageFailure) -> Bool { try exists(markPath(of: fileID)) }

    func unsettledDuplicates() throws(StorageFailure) -> [String] {
        try Self.names(in: "\(path)/duplicates").filter(Self.isFileID)
    }

    /// Where that fails, the next start after an unclean end does it.
    func unmarkDuplicate(_ fileID: String) { unlink(markPath(of: fileID)) }

    private func markPath(of fileID: String) -> String { "\(path)/duplicates/\(fileID)" }
}

/// Stands where a file's bytes are there already.
private final class NoBody: BodySink {
    func append(block: UnsafeRawBufferPointer) throws {}
    func append(end: UnsafeRawBufferPointer) throws {}
    func finish() throws {}
}
