import Basics
import Synchronization

/// The data files of this process without a row so far, which are not remains of an earlier process.
final class PendingFiles: Sendable {
    /// The file ids, with `true` for a duplicate of another file.
    private let ids = Lock<[String: Bool]>([:])

    var isEmpty: Bool { ids.withLock { $0.isEmpty } }

    func contains(_ fileID: String) -> Bool { ids.withLock { $0[fileID] != nil } }

    /// Adds a file, before it is made.
    func add(_ fileID: String, isDuplicate: Bool = false) { ids.withLock { $0[fileID] = isDuplicate } }

    /// Removes a file after its row was committed, or the file was deleted.
    ///
    /// - Returns: whether it was a duplicate.
    @discardableResult
    func remove(_ fileID: String) -> Bool { ids.withLock { $0.removeValue(forKey: fileID) } ?? false }
}
