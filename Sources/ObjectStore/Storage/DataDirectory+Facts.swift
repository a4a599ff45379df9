import Glibc
import Platform

/// What stands beside a completed upload's file, so that it can be listed again where a database does not know it. The
/// store keeps the bytes and does not read them.
extension DataDirectory {
    /// Durable when it returns.
    func writeFacts(_ facts: [UInt8], of fileID: String) throws(StorageFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(facts, to: factsPath(of: fileID))
        } catch {
            throw .last()
        }
    }

    /// Makes the name of facts that are there durable: the process that wrote them may have ended before it had done so.
    /// Their bytes are, since facts get their name once they are synced.
    func synchronizeFacts(of fileID: String) throws(PrivateFile.Failure) {
        try calls.synchronizeFolder("\(path)/facts/\(fileID.prefix(2))")
    }

    /// Removes what a process left of facts that it was writing when it ended; see ``PrivateFile/isUnfinished(_:)``. Nobody
    /// may be writing facts meanwhile.
    ///
    /// - Returns: how many files it removed.
    @discardableResult
    func removeUnfinishedFacts(inFolder folder: String) throws(StorageFailure) -> Int {
        let path = "\(path)/facts/\(folder)"
        return try Self.names(in: path).count { PrivateFile.isUnfinished($0) && unlink("\(path)/\($0)") == 0 }
    }

    /// Nil also where the disk cannot read them: they are a second copy of what the database says.
    func facts(of fileID: String) -> [UInt8]? {
        try? PrivateFile.read(factsPath(of: fileID))
    }

    /// The files that have some, in one of the ``folders``.
    func factsIDs(inFolder folder: String) throws(StorageFailure) -> [String] {
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
