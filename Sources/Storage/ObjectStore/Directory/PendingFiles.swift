import Basics

/// The data files that this process made and that no row speaks of yet: not to be taken for what an earlier process left.
final class PendingFiles: Sendable {
    /// By their ids: whether the file is a second name of another one's bytes.
    private let ids = Lock<[String: Bool]>([:])

    var isEmpty: Bool { ids.withLock { $0.isEmpty } }

    func contains(_ fileID: String) -> Bool { ids.withLock { $0[fileID] != nil } }

    /// To be called before the file is made.
    func add(_ fileID: String, isDuplicate: Bool = false) { ids.withLock { $0[fileID] = isDuplicate } }

    /// To be called when the row that speaks of the file has committed, or the file is removed.
    ///
    /// - Returns: whether it was a duplicate.
    @discardableResult
    func remove(_ fileID: String) -> Bool { ids.withLock { $0.removeValue(forKey: fileID) } ?? false }
}
