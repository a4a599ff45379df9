import Database
import Platform

/// What was found at a start, where the data directory and the database did not agree.
public struct StoreReconciliation: Sendable, Equatable {
    /// The database is not of the data directory's age: nothing was removed or moved.
    public var isForeign = false
    /// Files of discarded uploads, and old ones of uploads under way that no row speaks of.
    public var removed = 0
    /// Finished objects' files that no row speaks of: moved to `quarantine/`, never deleted.
    public var quarantined = 0
    /// Rows whose file is gone.
    public var lost = 0
}

extension ObjectStore {
    /// Runs before the first request: nothing else touches the directory. Goes folder by folder, in bounded memory.
    static func reconcile(
        _ data: DataDirectory, _ database: Database, now: UnixTime, orphanAge: Int64
    ) throws -> StoreReconciliation {
        var result = StoreReconciliation()
        result.isForeign = try !StoreIdentity.advance(directory: data.path, database: database)
        let removals = try database.read { try StoreRecords($0).scheduledRemovals() }
        for fileID in removals where !result.isForeign {
            try data.remove(fileID)
            result.removed += 1
        }
        for folder in DataDirectory.folders {
            let uses = try database.read { try StoreRecords($0).files(withPrefix: folder) }
            let entries = try data.files(inFolder: folder)
            for entry in entries {
                switch uses[entry.fileID] {
                case .object:
                    // The crash came between the commit and the mode.
                    if !entry.isFinished { data.seal(entry.fileID) }
                case .part, .multipart:
                    break
                case nil where result.isForeign:
                    break
                case nil where entry.isFinished:
                    try data.quarantine(entry.fileID)
                    result.quarantined += 1
                case nil where entry.modifiedAt < now.adding(seconds: -orphanAge):
                    try data.remove(entry.fileID)
                    result.removed += 1
                case nil:
                    break
                }
            }
            let lost = Set(uses.keys).subtracting(entries.map(\.fileID))
            result.lost += lost.count
            if !lost.isEmpty {
                try database.writeBlocking { connection in
                    for fileID in lost {
                        try StoreRecords(connection).markLost(fileID)
                    }
                }
            }
        }
        if !removals.isEmpty, !result.isForeign {
            try database.writeBlocking { try StoreRecords($0).removed(removals) }
        }
        return result
    }
}
