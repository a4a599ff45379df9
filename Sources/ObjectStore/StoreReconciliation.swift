import Database
import Platform

/// What was found at a start, where the data directory and the database did not agree.
public struct StoreReconciliation: Sendable, Equatable {
    /// The database is not of the data directory's age: nothing was looked at, and nothing changed.
    public var isForeign = false
    /// Files of requests that did not come to their commit, and old ones of uploads under way that no row speaks of.
    public var removed = 0
    /// Finished objects' files that no row speaks of: moved to `quarantine/`, never deleted.
    public var quarantined = 0
    /// Rows whose file is gone. They are marked, and not removed: where a later start finds the file, they hold again.
    public var lost = 0
    /// What could not be looked at or moved, as sentences with the path; at most ``keptFailures``. Nothing was concluded from
    /// it: an object whose folder cannot be read is not an object that is gone.
    public var failures: [String] = []
    /// All failures, also those beyond ``keptFailures``.
    public var failureCount = 0

    public static let keptFailures = 20

    mutating func failed(_ path: String, _ error: any Error) {
        failureCount += 1
        if failures.count < Self.keptFailures { failures.append("\(path): \(error)") }
    }
}

extension ObjectStore {
    /// Runs before the first request: nothing else touches the directory. Goes folder by folder, in bounded memory.
    ///
    /// What the disk refuses is said in the result, and stays as it is until the next start: only trouble with the
    /// database, or with the files that say whose store this is, is thrown.
    ///
    /// - Parameter orphanAge: how old a file of an upload under way must be to be removed without a row; seconds.
    static func reconcile(
        _ data: DataDirectory, _ database: Database, now: UnixTime, orphanAge: Int64
    ) throws -> StoreReconciliation {
        guard try StoreIdentity.advance(directory: data.path, database: database) else {
            return StoreReconciliation(isForeign: true)
        }
        var result = StoreReconciliation()
        for folder in DataDirectory.folders {
            // In this order: what is listed and has no row then is of no commit.
            let entries: [DataDirectory.Entry]
            do {
                entries = try data.files(inFolder: folder)
            } catch {
                result.failed("\(data.path)/data/\(folder)", error)
                continue
            }
            do {
                try data.removeUnfinishedFacts(inFolder: folder)
            } catch {
                result.failed("\(data.path)/facts/\(folder)", error)
            }
            let (uses, scheduled) = try database.read { connection in
                let records = StoreRecords(connection)
                return (try records.files(withPrefix: folder), try records.scheduledRemovals(withPrefix: folder))
            }
            for entry in entries where !scheduled.contains(entry.fileID) {
                do {
                    try reconcile(
                        entry, uses[entry.fileID], data, &result, orphansBefore: now.adding(seconds: -orphanAge))
                } catch {
                    result.failed(data.path(of: entry.fileID), error)
                }
            }
            result.lost += try markLost(uses, present: Set(entries.map(\.fileID)), database)
        }
        return result
    }

    private static func reconcile(
        _ entry: DataDirectory.Entry, _ use: FileUse?, _ data: DataDirectory, _ result: inout StoreReconciliation,
        orphansBefore limit: UnixTime
    ) throws {
        if let use {
            // The crash came between the commit and the mode.
            if use.kind == .object, !entry.isFinished { data.seal(entry.fileID) }
            if use.kind != .object, entry.isFresh { data.keep(entry.fileID) }
        } else if try data.isFinished(entry) {
            try data.quarantine(entry.fileID)
            result.quarantined += 1
        } else if entry.isFresh || entry.modifiedAt < limit {
            try data.remove(entry.fileID)
            result.removed += 1
        }
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
