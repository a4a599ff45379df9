import Basics
import Glibc

/// What stands beside a completed upload's file, so that it can be listed again where a database does not know it. The
/// store keeps the bytes and does not read them.
extension DirectoryEngine {
    /// Durable when it returns.
    func writeFacts(_ facts: [UInt8], of fileID: String) throws(StorageFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(facts, to: factsPath(of: fileID))
        } catch {
            throw StorageFailure(errno: error.code)
        }
    }

    /// Makes the name of facts that are there durable: the process that wrote them may have ended before it had done so.
    /// Their bytes are, since facts get their name once they are synced.
    func synchronizeFacts(of fileID: String) throws(PrivateFile.Failure) {
        try calls.synchronizeFolder("\(path)/facts/\(fileID.prefix(2))")
    }

    /// The names of what processes left of facts that they were writing when they ended, and of what this one is writing; see
    /// ``PrivateFile/isUnfinished(_:)``.
    func unfinishedFacts(inFolder folder: String) throws(StorageFailure) -> [String] {
        try Self.names(in: "\(path)/facts/\(folder)").filter(PrivateFile.isUnfinished)
    }

    /// Removes one of them. Nobody may be writing facts of that file meanwhile.
    func removeUnfinishedFacts(_ name: String) {
        // Where that fails, the next start after an unclean end does it.
        unlink("\(path)/facts/\(name.prefix(2))/\(name)")
    }

    /// Nil also where the disk cannot read them: they are a second copy of what the database says.
    func facts(of fileID: String) -> [UInt8]? {
        try? PrivateFile.read(factsPath(of: fileID))
    }

    /// The files that have some, in one of the ``folders``.
    func factsIDs(inFolder folder: String) throws -> [String] {
        try files(at: "\(path)/facts/\(folder)").map(\.fileID)
    }

    func hasFacts(of fileID: String) throws(StorageFailure) -> Bool {
        try exists(factsPath(of: fileID))
    }

    /// By its mode or, where a power loss took that, by its facts.
    func isFinished(_ entry: Entry) throws(StorageFailure) -> Bool {
        if entry.isFinished { return true }
        return try hasFacts(of: entry.fileID)
    }

    func factsPath(of fileID: String) -> String {
        "\(path)/facts/\(fileID.prefix(2))/\(fileID)"
    }
}
