import Accounts
import Backup
package import Basics
import Catalog
import Database
import DirectoryEngine
import ObjectStore
import Uploads

/// The repairs that the doctor performs on request.
extension Doctor {
    /// The result for one file.
    package struct RepairResult: Sendable {
        package let fileID: String
        /// The reason of a failure; `nil` if it succeeded.
        package let problem: String?
    }

    /// Reconciles the store with an older database: files that the database does not know go to quarantine, nothing is removed. Files
    /// of what the database itself has deleted stay for the gateway, which removes them.
    ///
    /// - Returns: the number of files put into quarantine.
    package func reconcile() throws -> Int {
        try database.writing(migrations) { database in
            let quarantined = try store.reconcile(database) { try CatalogedFiles(connection: $0).isListed($1) }
            guard let quarantined else {
                throw DataDirectory.Problem(
                    description: """
                        the store is missing, or is not that of this database: check the disk of \(directory.store), or the \
                        prefix of the bucket
                        """)
            }
            return quarantined
        }
    }

    /// Makes the present root key that of the database, whatever it was used with before.
    package func acceptRootKey() throws {
        try database.writing(migrations) { try directory.acceptRootKey(for: $0) }
    }

    /// Counts the objects of each quarter hour again.
    package func recount() throws {
        try database.writing(migrations) { database in
            try database.writeBlocking { try RecordingCounts($0).renew() }
        }
    }

    /// Lists completed uploads again, in the order of their completion.
    ///
    /// - Parameter fileIDs: `nil` for all whose facts are known and of whose deletion the database has no record.
    package func readopt(_ fileIDs: Set<String>?, at now: UnixTime) throws -> [RepairResult] {
        try database.writing(migrations) { database in
            guard try database.readBlocking({ try store.permitsReadoption(to: $0) }) else {
                throw DataDirectory.Problem(
                    description:
                        "the database and the store were not last used together: run doctor with --reconcile first")
            }
            let (quarantined, unlisted) = try database.readBlocking {
                let records = DoctorRecords(connection: $0)
                return (try self.quarantined(records), try self.unlisted(records))
            }
            let isQuarantined = Set(quarantined.map(\.fileID))
            let all = (quarantined + unlisted).sorted { $0.at < $1.at }
            var treated: [RepairResult] = []
            for file in all
            where fileIDs?.contains(file.fileID) ?? (file.facts != nil && file.deletion == nil) {
                guard let facts = file.facts else {
                    treated.append(RepairResult(fileID: file.fileID, problem: "its upload was never completed"))
                    continue
                }
                let write: @Sendable (Connection) throws -> Void = { connection in
                    try Readoption(facts).perform(in: connection)
                    let entry = AuditEntry(
                        actor: "doctor", action: "TakeIn", target: "files/\(facts.fileID)", peer: "")
                    try Audit.record(entry, at: now, in: connection)
                }
                do {
                    let isQuarantined = isQuarantined.contains(file.fileID)
                    try store.readopt(facts.file, isQuarantined: isQuarantined, database, write)
                    treated.append(RepairResult(fileID: file.fileID, problem: nil))
                } catch {
                    treated.append(RepairResult(fileID: file.fileID, problem: "\(error)"))
                }
            }
            try store.finishReadoption(database)
            let known = Set(all.map(\.fileID))
            return try treated
                + (fileIDs ?? []).subtracting(known).sorted().map {
                    RepairResult(fileID: $0, problem: try absence(of: $0, database))
                }
        }
    }

    /// Returns the reason why a file cannot be re-adopted that is neither in quarantine nor unlisted.
    private func absence(of fileID: String, _ database: Database) throws -> String {
        let (isScheduled, deletion) = try database.readBlocking {
            (
                try ObjectStore.isRemovalScheduled(of: fileID, in: $0),
                try DoctorRecords(connection: $0).deletion(of: fileID)
            )
        }
        let absence =
            isScheduled
            ? "the database has scheduled its removal: the gateway removes it"
            : "the store has no such file to re-adopt"
        return deletion.map { "\(absence) (\($0))" } ?? absence
    }

    /// Permanently removes files from quarantine.
    package func delete(_ fileIDs: Set<String>) throws -> [RepairResult] {
        try database.opening(migrations) { open in
            try fileIDs.sorted().map { fileID in
                let isDeleted = try store.deleteQuarantined(fileID, open)
                return RepairResult(fileID: fileID, problem: isDeleted ? nil : "the quarantine has no such file")
            }
        }
    }
}
