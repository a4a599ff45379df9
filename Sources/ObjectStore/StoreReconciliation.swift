import Database
import Platform

/// What was found at a start, where the data directory and the database did not agree.
public struct StoreReconciliation: Sendable, Equatable {
    /// The database is not of the data directory's age: nothing was looked at, and nothing changed.
    public var isForeign = false
    /// Files of discarded uploads, of requests that did not come to their commit, and old ones of uploads under way that
    /// no row speaks of.
    public var removed = 0
    /// Finished objects' files that no row speaks of: moved to `quarantine/`, never deleted.
    public var quarantined = 0
    /// Rows whose file is gone.
    public var lost = 0
}

extension ObjectStore {
    /// Runs before the first request: nothing else touches the directory. Goes folder by folder, in bounded memory.
    ///
    /// - Parameter orphanAge: how old a file of an upload under way must be to be removed without a row; seconds.
    static func reconcile(
        _ data: DataDirectory, _ database: Database, now: UnixTime, orphanAge: Int64
    ) throws -> StoreReconciliation {
        guard try StoreIdentity.advance(directory: data.path, database: database) else {
            return StoreReconciliation(isForeign: true)
        }
        var result = StoreReconciliation()
        let removals = try database.read { try StoreRecords($0).scheduledRemovals() }
        for fileID in removals {
            try data.remove(fileID)
            result.removed += 1
        }
        if !removals.isEmpty {
            try database.writeBlocking { try StoreRecords($0).removed(removals) }
        }
        for folder in DataDirectory.folders {
            let uses = try database.read { try StoreRecords($0).files(withPrefix: folder) }
            let entries = try data.files(inFolder: folder)
            for entry in entries {
                if let use = uses[entry.fileID] {
                    // The crash came between the commit and the mode.
                    if use.kind == .object, !entry.isFinished { data.seal(entry.fileID) }
                    if use.kind != .object, entry.isFresh { data.keep(entry.fileID) }
                } else if data.isFinished(entry) {
                    try data.quarantine(entry.fileID)
                    result.quarantined += 1
                } else if entry.isFresh || entry.modifiedAt < now.adding(seconds: -orphanAge) {
                    try data.remove(entry.fileID)
                    result.removed += 1
                }
            }
            result.lost += try markLost(uses, present: Set(entries.map(\.fileID)), database)
        }
        return result
    }

    /// - Returns: how many files are gone.
    private static func markLost(
        _ uses: [String: FileUse], present: Set<String>, _ database: Database
    ) throws -> Int {
        let changed = uses.filter { $0.value.isLost == present.contains($0.key) }.map(\.key)
        if !changed.isEmpty {
            try database.writeBlocking { connection in
                for fileID in changed {
                    try StoreRecords(connection).markLost(fileID, !present.contains(fileID))
                }
            }
        }
        return uses.count { !present.contains($0.key) }
    }
}
