import Basics
import Database
import ObjectStore
import Synchronization

/// Compares the data files with the rows after an unclean shutdown, folder by folder and in bounded memory, on a thread of its own
/// while the store serves.
///
/// Requests create and remove files meanwhile, so one look is not enough:
/// - A file without a row belongs to an earlier process only if no request of this one is making it, *and* it has no row when
///   checked after that. Ids are random, so such a file cannot get a row later.
/// - A row is listed after the folder, and its file is looked up once more. A row's file is removed after the row, so the mark has
///   no effect if the object was deleted in between.
final class Reconciler: Sendable {
    private struct Stopped: Error {}

    private struct State {
        var found = StoreReconciliation()
        /// The number of folders that are not compared yet.
        var left = 0
        var isStopped = false
    }

    /// The number of rows that one transaction marks.
    private static let batch = 256

    private let data: DirectoryEngine
    private let database: Database
    private let facts: FactsWriter
    private let worker = Worker.serial("store.reconciliation")
    private let state = Lock(State())

    init(_ data: DirectoryEngine, _ database: Database, _ facts: FactsWriter) {
        self.data = data
        self.database = database
        self.facts = facts
    }

    /// Begins, without waiting for the end.
    ///
    /// - Parameter isOrphan: returns whether a file of an upload in progress without a row is removed, by the time of its last
    ///   write.
    func begin(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) {
        state.withLock { $0.left = DirectoryEngine.folders.count }
        worker.post { [self] in
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
            forgetResolvedDuplicates()
        }
    }

    /// Begins to remove the marks that a process could not remove, after a clean stop: files and rows agree.
    func beginForgettingDuplicates() {
        worker.post { [self] in forgetResolvedDuplicates() }
    }

    /// The findings so far.
    var found: StoreReconciliation { state.withLock { $0.found } }

    /// The number of folders that are not compared yet.
    var foldersLeft: Int { state.withLock { $0.left } }

    /// Whether everything was compared without a failure, or needed no comparison.
    var isComplete: Bool { state.withLock { $0.left == 0 && $0.found.failureCount == 0 } }

    /// Returns when everything was compared, or the work was stopped.
    func finish() async {
        await worker.run {}
    }

    /// Stops at the next file; the next start begins again.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Returns when no thread works here any more: everything was compared, or the work was stopped.
    func drain() { worker.drain() }

    private func goOn() throws(Stopped) {
        guard !state.withLock({ $0.isStopped }) else { throw Stopped() }
    }

    private func note(_ change: (inout StoreReconciliation) -> Void) { state.withLock { change(&$0.found) } }

    private func reconcile(_ folder: String, _ isOrphan: (UnixTime) throws -> Bool) throws {
        try goOn()
        // In this order: a listed file without a row afterwards has no commit, unless this process is making it.
        let entries = try data.files(inFolder: folder, goOn)
        removeUnfinishedFacts(folder)
        let (all, segmented, scheduled) = try database.readBlocking { connection in
            let records = StoreRecords(connection)
            return (
                try records.files(withPrefix: folder), try records.segmentedFiles(withPrefix: folder),
                try records.scheduledRemovals(withPrefix: folder)
            )
        }
        let uses = all.filter { !segmented.contains($0.key) }
        for entry in entries where !scheduled.contains(entry.fileID) {
            try goOn()
            do {
                if segmented.contains(entry.fileID) {
                    try removeCopied(entry.fileID)
                } else if let use = uses[entry.fileID] {
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

    /// Removes the marks of duplicates that have a row, or whose file was deleted: with a database that is older than their rows,
    /// marks would be wrong.
    private func forgetResolvedDuplicates() {
        do {
            for fileID in try data.unresolvedDuplicates() where !data.pending.contains(fileID) {
                let isKnown = try database.readBlocking { try StoreRecords($0).refers(to: fileID) }
                if try isKnown || !data.exists(data.path(of: fileID)) { data.unmarkDuplicate(fileID) }
            }
        } catch {
            note { $0.failed("\(data.path)/duplicates", error) }
        }
    }

    private func removeUnfinishedFacts(_ folder: String) {
        do {
            for name in try data.unfinishedFacts(inFolder: folder) {
                // After any request that is writing facts of that file: these are complete then, and this one is gone.
                facts.worker(for: String(name.prefix(32))).post { [data] in data.removeUnfinishedFacts(name) }
            }
        } catch {
            note { $0.failed("\(data.path)/facts/\(folder)", error) }
        }
    }

    /// Completes the mode of a file after a crash between the commit and the change of mode.
    private func completeMode(of entry: DirectoryEngine.Entry, _ use: FileUse) throws {
        if use.kind == .object, !entry.isFinished { data.seal(entry.fileID) }
        guard use.kind != .object, entry.isFresh else { return }
        data.keep(entry.fileID)
        // Its Complete may have come in between, and sealed it.
        if try database.readBlocking({ try StoreRecords($0).isObject(fileID: entry.fileID) }) {
            data.seal(entry.fileID)
        }
    }

    /// Removes a file whose bytes are in a bucket according to its row: the process that copied it there ended before its removal.
    private func removeCopied(_ fileID: String) throws {
        guard !data.pending.contains(fileID),
            try database.readBlocking({ try StoreRecords($0).layout(of: fileID) }) != nil
        else { return }
        try data.remove(fileID)
        note { $0.removed += 1 }
    }

    private func judge(_ entry: DirectoryEngine.Entry, _ isOrphan: (UnixTime) throws -> Bool) throws {
        let fileID = entry.fileID
        guard !data.pending.contains(fileID), try !database.readBlocking({ try StoreRecords($0).refers(to: fileID) }),
            try data.exists(data.path(of: fileID))
        else { return }
        if try data.isRedundantDuplicate(fileID) {
            try data.remove(fileID)
            data.unmarkDuplicate(fileID)
            note { $0.removed += 1 }
        } else if try data.isUnresolvedDuplicate(fileID) || data.isFinished(entry) {
            try data.quarantine(fileID)
            data.unmarkDuplicate(fileID)
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
