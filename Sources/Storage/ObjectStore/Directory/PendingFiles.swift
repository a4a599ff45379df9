import Basics

/// The data files that this process made and that no row speaks of yet: not to be taken for what an earlier process left.
final class PendingFiles: Sendable {
    private let ids = Lock<Set<String>>([])

    var isEmpty: Bool { ids.withLock { $0.isEmpty } }

    func contains(_ fileID: String) -> Bool { ids.withLock { $0.contains(fileID) } }

    /// To be called before the file is made.
    func add(_ fileID: String) { ids.withLock { _ = $0.insert(fileID) } }

    /// To be called when the row that speaks of the file has committed, or the file is removed.
    func remove(_ fileID: String) { ids.withLock { _ = $0.remove(fileID) } }
}
