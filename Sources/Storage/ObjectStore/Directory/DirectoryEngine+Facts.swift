import Basics
import Glibc

/// The facts beside a completed upload's file, with which it can be listed again if a database does not know it. The store keeps
/// the bytes without interpreting them.
extension DirectoryEngine {
    /// Writes facts, durably.
    func writeFacts(_ facts: [UInt8], of fileID: String) throws(StorageFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(facts, to: factsPath(of: fileID))
        } catch {
            throw StorageFailure(errno: error.code)
        }
    }

    /// Makes the name of existing facts durable, because the process that wrote them may have ended before that. Their bytes are
    /// durable, since facts are renamed after they were synced.
    func synchronizeFacts(of fileID: String) throws(PrivateFile.Failure) {
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
    func facts(of fileID: String) -> [UInt8]? {
        try? PrivateFile.read(factsPath(of: fileID))
    }

    /// Returns the ids of files with facts in one of the ``folders``.
    func factsIDs(inFolder folder: String) throws -> [String] {
        try files(at: "\(path)/facts/\(folder)").map(\.fileID)
    }

    func hasFacts(of fileID: String) throws(StorageFailure) -> Bool {
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
