import Basics
import Database
import ObjectStore

/// Finds completed uploads that a database lacks, by the facts in the bucket: they were written before the completion was acknowledged.
struct FactsComparison {
    let bucket: SegmentBucket
    let register: UploadRegister

    /// Calls `body` with the file ids of completed uploads that are not listed, in batches.
    ///
    /// - Parameters:
    ///   - goOn: called for each page; throws to stop.
    ///   - read: runs a query on the rows of the time when it is called.
    func forEachLacking(
        _ goOn: () throws -> Void = {}, _ read: ((ReadConnection) throws -> [String]) throws -> [String],
        _ body: ([String]) throws -> Void
    ) throws {
        try bucket.forEachPage(of: SegmentBucket.facts) { page, _ in
            try goOn()
            // Facts are written after the rows, so they are listed before the rows are read.
            let lacking = try read { try unlisted(among: page.map(\.id), $0) }.filter { fileID in
                // Its object may have been deleted since it was listed.
                try bucket.hasFacts(of: fileID)
            }
            if !lacking.isEmpty { try body(lacking) }
        }
    }

    /// The same with the rows of one connection.
    func forEachLacking(in connection: ReadConnection, _ body: ([String]) throws -> Void) throws {
        try forEachLacking({}, { try $0(connection) }, body)
    }

    /// Returns the files of facts for which the database has no listed object, no deletion, and no scheduled removal.
    private func unlisted(among fileIDs: [String], _ connection: ReadConnection) throws -> [String] {
        let records = StoreRecords(connection)
        let stored = try records.objectFiles(among: fileIDs)
        let scheduled = try records.scheduledRemovals(among: fileIDs)
        return try fileIDs.filter { fileID in
            if scheduled.contains(fileID) { return false }
            if try stored.contains(fileID) && register.isListed(fileID, connection) { return false }
            return try !register.isDeleted(fileID, connection)
        }
    }
}
