package import Basics
import CLinux
import Crypto
import Glibc
package import ObjectStore

/// Files with the same bytes as another: two hard links, each of which is removed independently, in any order.
///
/// After a crash, a finished file without a row is moved to quarantine. To prevent that for a duplicate whose commit did not
/// happen, `duplicates/<file id>` marks it before it gets its name and until its row exists; see ``Reconciler``.
extension DirectoryEngine {
    /// Makes the mark durable, creates the link, and makes the link durable, in this order. Then the row is committed, and the mark
    /// removed.
    package func duplicate(_ fileID: String) throws -> NewFile {
        let id = Random.hex(16)
        pending.add(id, isDuplicate: true)
        do {
            let mark = Glibc.open(markPath(of: id), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard mark >= 0, close(mark) == 0 else { throw StorageFailure.last() }
            try calls.synchronizeFolder("\(path)/duplicates")
            guard calls.link(path(of: fileID), path(of: id)) == 0 else { throw StorageFailure.lastOfReading() }
            let new = NewFile(id, in: self)
            try calls.synchronizeFolder(folder(of: id))
            return new
        } catch StorageFailure.missing {
            resolve(id)
            throw StorageFailure.missing
        } catch {
            resolve(id)
            return try copied(fileID)
        }
    }

    /// Copies the file, if the file system cannot create another hard link.
    private func copied(_ fileID: String) throws -> NewFile {
        let (id, target) = try makeFile()
        let new = NewFile(id, target, in: self)
        let source = try open(fileID, for: .reading)
        try target.copy(source, length: try source.size(), to: 0)
        try target.synchronizeAndClose()
        return new
    }

    /// Whether the file is a duplicate whose commit is not known to have happened.
    func isUnresolvedDuplicate(_ fileID: String) throws(StorageFailure) -> Bool { try exists(markPath(of: fileID)) }

    /// Whether the file may be removed although nobody knows who needs it: its commit is not known to have happened, and its bytes
    /// have another name. An older database may not know a copy that was committed, and whose mark is still there; the last name of
    /// bytes is therefore never removed.
    func isRedundantDuplicate(_ fileID: String) throws(StorageFailure) -> Bool {
        guard try isUnresolvedDuplicate(fileID) else { return false }
        var status = stat()
        guard lstat(path(of: fileID), &status) == 0 else {
            if errno == ENOENT { return false }
            throw .last()
        }
        return status.st_nlink > 1
    }

    func unresolvedDuplicates() throws(StorageFailure) -> [String] {
        try Self.names(in: "\(path)/duplicates").filter(Self.isFileID)
    }

    /// Removes the mark. If that fails, the next start after a crash removes it.
    func unmarkDuplicate(_ fileID: String) { unlink(markPath(of: fileID)) }

    private func markPath(of fileID: String) -> String { "\(path)/duplicates/\(fileID)" }
}

/// The facts beside a completed upload's file, with which it can be listed again if a database does not know it. The store keeps
/// the bytes without interpreting them.
extension DirectoryEngine {
    /// Writes facts, durably.
    package func writeFacts(_ facts: [UInt8], of fileID: String) throws(StorageFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(facts, to: factsPath(of: fileID))
        } catch {
            throw StorageFailure(errno: error.code)
        }
    }

    /// Makes the name of existing facts durable, because the process that wrote them may have ended before that. Their bytes are
    /// durable, since facts are renamed after they were synced.
    package func synchronizeFacts(of fileID: String) throws(PrivateFile.Failure) {
        try calls.synchronizeFolder("\(path)/facts/\(fileID.prefix(2))")
    }

    /// Returns the names of unfinished facts, both of ended processes and of this one; see ``PrivateFile/isUnfinished(_:)``.
    func unfinishedFacts(inFolder folder: String) throws(StorageFailure) -> [String] {
        try Self.names(in: "\(path)/facts/\(folder)").filter(PrivateFile.isUnfinished)
    }

    /// Removes unfinished facts. No request may be writing facts of that file.
    func removeUnfinishedFacts(_ name: String) {
        // If this fails, the next start after an unclean shutdown removes them.
        unlink("\(path)/facts/\(name.prefix(2))/\(name)")
    }

    /// Returns `nil` also if the disk cannot read them, because they are a second copy of data in the database.
    package func facts(of fileID: String) -> [UInt8]? {
        try? PrivateFile.read(factsPath(of: fileID))
    }

    /// Returns the ids of files with facts in one of the ``folders``.
    func factsIDs(inFolder folder: String) throws -> [String] {
        try files(at: "\(path)/facts/\(folder)").map(\.fileID)
    }

    package func hasFacts(of fileID: String) throws(StorageFailure) -> Bool {
        try exists(factsPath(of: fileID))
    }

    /// Whether the file is finished by its mode or, if a power loss has reset that, by its facts.
    func isFinished(_ entry: Entry) throws(StorageFailure) -> Bool {
        if entry.isFinished { return true }
        return try hasFacts(of: entry.fileID)
    }

    func factsPath(of fileID: String) -> String {
        "\(path)/facts/\(fileID.prefix(2))/\(fileID)"
    }
}
