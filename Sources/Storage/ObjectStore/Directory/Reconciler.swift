import Basics
import Database
import Dispatch

/// Compares the data files with the rows after an unclean end, folder by folder and in bounded memory, on a thread of its own
/// while the store serves.
///
/// Requests go on making and removing files meanwhile, so nothing is concluded from one look:
/// - A file without a row is an earlier process's only if this one has no request that is making it, *and* no row speaks of it
///   when it is looked for after that. An id is random, so no row comes to speak of such a file later.
/// - A row is listed after the folder, and its file looked for once more. A row's file is removed after the row, so that the
///   mark changes nothing where the object was deleted in between.
final class Reconciler: Sendable {
    private struct Stopped: Error {}

    private struct State {
        var found = StoreReconciliation()
        /// Folders that are still to be compared.
        var left = 0
        var isStopped = false
    }

    /// Rows that one transaction marks.
    private static let batch = 256

    private let data: DirectoryEngine
    private let database: Database
    private let facts: FactsWriter
    private let queue = DispatchQueue(label: "store.reconciliation")
    private let state = Lock(State())

    init(_ data: DirectoryEngine, _ database: Database, _ facts: FactsWriter) {
        self.data = data
        self.database = database
        self.facts = facts
    }

    /// Begins, without waiting for it.
    ///
    /// - Parameter isOrphan: whether a file of an upload under way that no row speaks of is removed, by when it was written.
    func begin(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) {
        state.withLock { $0.left = DirectoryEngine.folders.count }
        queue.async { [self] in
            for folder in DirectoryEngine.folders {
                do {
                    try reconcile(folder, isOrphan)
                } catch is Stopped {
                    return
                } catch {
                    note { $0.failed("\(data.path)/data/\(folder)", error) }
                }
                state.withLock { $0.left -= 1 }
            }
            forgetSettledDuplicates()
        }
    }

    /// What was found so far.
    var found: StoreReconciliation { state.withLock { $0.found } }

    /// Folders that are still to be compared.
    var foldersLeft: Int { state.withLock { $0.left } }

    /// Whether all was compared, without a failure, or did not have to be.
    var isSettled: Bool { state.withLock { $0.left == 0 && $0.found.failureCount == 0 } }

    /// Returns when all was compared, or the work was stopped.
    func finish() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    /// Ends the work at the next file; the next start begins it anew.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Returns when no thread works here any more, or, unless it was stopped, all was compared.
    func drain() { queue.sync {} }

    private func goOn() throws(Stopped) {
        guard !state.withLock({ $0.isStopped }) else { throw Stopped() }
    }

    private func note(_ change: (inout StoreReconciliation) -> Void) { state.withLock { change(&$0.found) } }

    private func reconcile(_ folder: String, _ isOrphan: (UnixTime) throws -> Bool) throws {
        try goOn()
        // In this order: what is listed and has no row then is of no commit, unless this process is making it.
        let entries = try data.files(inFolder: folder, goOn)
        removeUnfinishedFacts(folder)
        let (uses, scheduled) = try database.readBlocking { connection in
            let records = StoreRecords(connection)
            return (try records.files(withPrefix: folder), try records.scheduledRemovals(withPrefix: folder))
        }
        for entry in entries where !scheduled.contains(entry.fileID) {
            try goOn()
            do {
                if let use = uses[entry.fileID] {
                    try completeMode(of: entry, use)
                } else {
                    try judge(entry, isOrphan)
                }
            } catch {
                note { $0.failed(data.path(of: entry.fileID), error) }
            }
        }
        try markLost(uses, listed: Set(entries.map(\.fileID)))
    }

    /// Removes the marks of duplicates that have a row, or that are gone.
    private func forgetSettledDuplicates() {
        do {
            for fileID in try data.unsettledDuplicates() where !data.pending.contains(fileID) {
                let isKnown = try database.readBlocking { try StoreRecords($0).speaks(of: fileID) }
                if try isKnown || !data.exists(data.path(of: fileID)) { data.unmarkDuplicate(fileID) }
            }
        } catch {
            note { $0.failed("\(data.path)/duplicates", error) }
        }
    }

    private func removeUnfinishedFacts(_ folder: String) {
        do {
            for name in try data.unfinishedFacts(inFolder: folder) {
                // Behind a request that is writing facts of that file: then they have their name, and this one is gone.
                facts.perform(for: String(name.prefix(32))) { [data] in data.removeUnfinishedFacts(name) }
            }
        } catch {
            note { $0.failed("\(data.path)/facts/\(folder)", error) }
        }
    }

    /// The crash came between the commit and the mode.
    private func completeMode(of entry: DirectoryEngine.Entry, _ use: FileUse) throws {
        if use.kind == .object, !entry.isFinished { data.seal(entry.fileID) }
        guard use.kind != .object, entry.isFresh else { return }
        data.keep(entry.fileID)
        // Its Complete may have come in between, and sealed it.
        if try database.readBlocking({ try StoreRecords($0).isObject(fileID: entry.fileID) }) {
            data.seal(entry.fileID)
        }
    }

    private func judge(_ entry: DirectoryEngine.Entry, _ isOrphan: (UnixTime) throws -> Bool) throws {
        let fileID = entry.fileID
        guard !data.pending.contains(fileID), try !database.readBlocking({ try StoreRecords($0).speaks(of: fileID) }),
            try data.exists(data.path(of: fileID))
        else { return }
        if try data.isUnsettledDuplicate(fileID) {
            // The bytes are another file's, and nobody was told of this one.
            try data.remove(fileID)
            data.unmarkDuplicate(fileID)
            note { $0.removed += 1 }
        } else if try data.isFinished(entry) {
            try data.quarantine(fileID)
            note { $0.quarantined += 1 }
        } else if try entry.isFresh || isOrphan(entry.modifiedAt) {
            try data.remove(fileID)
            note { $0.removed += 1 }
        }
    }

    private func markLost(_ uses: [String: FileUse], listed: Set<String>) throws {
        let missing = try uses.filter { use in
            try !listed.contains(use.key) && !data.exists(data.path(of: use.key))
        }
        let known = missing.count { $0.value.isLost }
        note { $0.lost += known }
        try mark(missing.filter { !$0.value.isLost }.map(\.key), isLost: true)
        try mark(uses.filter { $0.value.isLost && listed.contains($0.key) }.map(\.key), isLost: false)
    }

    private func mark(_ fileIDs: [String], isLost: Bool) throws {
        for start in stride(from: 0, to: fileIDs.count, by: Self.batch) {
            try goOn()
            let some = fileIDs[start..<min(start + Self.batch, fileIDs.count)]
            let marked = try database.writeBlocking(mayUseReserve: true) { connection in
                try some.count { try StoreRecords(connection).markLost($0, isLost) }
            }
            if isLost { note { $0.lost += marked } }
        }
    }
}
