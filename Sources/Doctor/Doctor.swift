import Accounts
package import Backup
package import Basics
import Catalog
package import Database
import DirectoryEngine
import FoundationEssentials
package import ObjectStore
package import Uploads

/// Examines a stopped gateway: whether the database is undamaged, whether the store has every file in the database, and whether it
/// has files that are not in the database. Changes nothing unless told to.
package struct Doctor: Sendable {
    /// The record of an object's permanent deletion.
    package struct Deletion: Sendable, Equatable, CustomStringConvertible {
        package let at: UnixTime
        /// The author, as in the audit log, e.g. `user:system/admin`.
        package let actor: String
        /// The given reason; may be empty.
        package let reason: String

        package var description: String {
            let day = Date(timeIntervalSince1970: Double(at.seconds)).formatted(.iso8601)
            return "deleted on \(day) by \(actor)" + (reason.isEmpty ? "" : ": \(reason)")
        }
    }

    /// A completed upload that can be listed again, or a file about which nothing is known.
    package struct Unlisted: Sendable {
        package let fileID: String
        /// The size in bytes.
        package let size: Int64
        /// The time of CompleteUpload; for an unknown file, the time of the last write to it.
        package let at: UnixTime
        /// The facts; `nil` if CompleteUpload never succeeded, so that the file can only be deleted.
        package let facts: ObjectFacts?
        /// The record of its deletion, if the database has one: it is only listed again if somebody names it.
        package var deletion: Deletion?
    }

    package struct Report: Sendable {
        /// The path of the database file, or its place on a server.
        package let database: String
        /// Damage of the database file; empty if the file is whole.
        package var damages: [String] = []
        /// Whether damage of the database kept the doctor from comparing it with the store.
        package var isIncomplete = false
        /// The problems of the keys, as sentences.
        package var keys: [String] = []
        /// Whether database and store belong to the same generation.
        package var belongTogether = true
        /// The file ids of objects whose file is missing or has another size.
        package var missing = Tally()
        /// The file ids of objects with wrong bytes; examined with `checksums` only.
        package var damaged = Tally()
        /// Uploads in progress whose file is missing: their clients will be told to restart.
        package var interrupted = Tally()
        /// Finished files that the database does not know as such.
        package var unknown = Tally()
        /// Files of deleted objects and uploads, which the gateway still has to remove.
        package var scheduled = Tally()
        /// Files of uploads in progress without a row; the gateway removes them once they are 30 days old.
        package var stray = Tally()
        /// The files in quarantine.
        package var quarantined: [Unlisted] = []
        /// Completed uploads with a file that are missing from the list of objects.
        package var unlisted: [Unlisted] = []
        /// The quarter hours for which the number of objects in the counts by day is wrong.
        package var miscounted = 0

        /// Whether nothing needs to be repaired.
        package var isInOrder: Bool {
            damages.isEmpty && keys.isEmpty && belongTogether && missing.count == 0 && damaged.count == 0
                && unknown.count == 0 && miscounted == 0
                && quarantined.isEmpty && unlisted.isEmpty
        }
    }

    let directory: DataDirectory
    let migrations: [Migration]
    let database: StoppedDatabase
    let store: any OfflineObjects
    /// Whether the objects have their bytes in a bucket.
    private let isOfBucket: Bool

    /// - Parameters:
    ///   - directory: stays locked as long as the doctor exists.
    ///   - database: its database.
    ///   - migrations: those of this program.
    ///   - bucket: the store, if it is in a bucket; `nil` = the data directory has it.
    package init(
        _ directory: DataDirectory, _ database: StoppedDatabase, migrations: [Migration],
        bucket: (any OfflineObjects)? = nil
    ) {
        self.directory = directory
        self.database = database
        self.migrations = migrations
        store = bucket ?? OfflineStore(directory: directory.store)
        isOfBucket = bucket != nil
    }

    /// - Parameter checksums: whether the data of every object is read and verified.
    /// - Throws: `DataDirectory.Problem`, `DatabaseError`.
    package func examine(checksums: Bool) throws -> Report {
        var report = Report(database: database.name)
        do {
            try database.inspect { connection in
                // A server examines its files itself.
                if database.isFile { report.damages = try DoctorRecords(connection: connection).damages() }
                try requireCurrentTables(connection)
                report.keys = try directory.keyProblems(connection, of: database.name)
                try examine(connection, checksums: checksums, &report)
            }
        } catch let error as DatabaseError where error.isDamage || !report.damages.isEmpty {
            // Whatever the rows say would be wrong, or cannot be read.
            report.isIncomplete = true
            if case .damaged(_, _, let message) = error {
                report.damages.append(message)
            } else {
                report.damages.append("\(error)")
            }
            report.keys = try directory.keyProblems(nil)
        }
        return report
    }

    private func requireCurrentTables(_ connection: ReadConnection) throws {
        guard try connection.pending(migrations).isEmpty else {
            throw DataDirectory.Problem(
                description:
                    "the database was written by an older data-gateway: start this version once, then run doctor again"
            )
        }
    }

    private func examine(_ connection: ReadConnection, checksums: Bool, _ report: inout Report) throws {
        try requireBytes(connection)
        let records = DoctorRecords(connection: connection)
        report.belongTogether = try store.belongs(to: connection)
        for fileID in try records.withoutStoredObject() { report.missing.add(fileID) }
        try store.compare(with: connection, checksums: checksums) { finding in
            switch finding {
            case .missing(let file): report.missing.add(file.fileID)
            case .damaged(let file): report.damaged.add(file.fileID)
            case .uploadWithoutFile(let fileID): report.interrupted.add(fileID)
            case .unknown(let fileID, _): report.unknown.add(fileID)
            case .scheduled(let fileID, _): report.scheduled.add(fileID)
            case .stray(let fileID, _): report.stray.add(fileID)
            }
        }
        report.quarantined = try quarantined(records)
        report.unlisted = try unlisted(records)
        report.miscounted = try RecordingCounts(connection).countWrong()
    }

    private func requireBytes(_ connection: ReadConnection) throws {
        let problem: String
        switch (try StoredFile.anyIsSegmented(in: connection), try StoredFile.anyIsInDirectory(in: connection)) {
        case (true, true):
            problem =
                "objects have their bytes in a bucket and in the data directory: let data-gateway objects copy end first"
        case (true, false) where !isOfBucket:
            problem = "the objects have their bytes in a bucket: run doctor with --objects and the gateway's --config"
        case (false, true) where isOfBucket:
            problem = "the objects have their bytes in the data directory: run doctor without --objects"
        default: return
        }
        throw DataDirectory.Problem(description: problem)
    }

    /// Returns the files in quarantine, oldest first.
    func quarantined(_ records: DoctorRecords) throws -> [Unlisted] {
        try store.quarantined(records.connection).map { file in
            let facts = facts(of: file.fileID).flatMap { $0.isOf(fileID: file.fileID, size: file.size) ? $0 : nil }
            return Unlisted(
                fileID: file.fileID, size: file.size, at: facts?.completedAt ?? file.modifiedAt, facts: facts,
                deletion: try records.deletion(of: file.fileID))
        }.sorted { ($0.at, $0.fileID) < ($1.at, $1.fileID) }
    }

    /// Returns completed uploads that are missing from the list, oldest first.
    func unlisted(_ records: DoctorRecords) throws -> [Unlisted] {
        var found: [Unlisted] = []
        func add(_ fileIDs: [String]) throws {
            // An upload without facts was never completed, and its device will continue it.
            for facts in fileIDs.compactMap({ facts(of: $0) }) where try store.holdsFile(facts.fileID) {
                found.append(
                    Unlisted(
                        fileID: facts.fileID, size: facts.size, at: facts.completedAt, facts: facts,
                        deletion: try records.deletion(of: facts.fileID)))
            }
        }
        let lacking = Set(try store.lacking(records.connection))
        try add(Array(lacking))
        var last = ""
        while true {
            let page = try records.unlisted(after: last, limit: 1000)
            guard let end = page.last else { break }
            last = end
            try add(page.filter { !lacking.contains($0) })
        }
        return found.sorted { ($0.at, $0.fileID) < ($1.at, $1.fileID) }
    }

    private func facts(of fileID: String) -> ObjectFacts? {
        store.facts(of: fileID).flatMap { ObjectFacts($0) }
    }
}
