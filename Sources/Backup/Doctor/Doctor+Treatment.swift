import Accounts
import Basics
import Database
import ObjectStore
import Uploads

/// What the doctor does when it is told to.
extension Doctor {
    /// What came of one file.
    package struct RepairResult: Sendable {
        package let fileID: String
        /// Nil where it was done.
        package let problem: String?
    }

    /// Has the store and a database that is older than it go together again: what the database does not know goes into
    /// quarantine, nothing is removed.
    ///
    /// - Returns: how many files went there.
    package func reconcile() throws -> Int {
        try writing { database in
            let store = OfflineStore(directory: directory.store)
            let quarantined = try store.reconcile(database) { try DoctorRecords(connection: $0).isListed($1) }
            guard let quarantined else {
                throw DataDirectory.Problem(
                    description: """
                        \(directory.store) is missing, or is not the store of this database: check that its disk is mounted
                        """)
            }
            return quarantined
        }
    }

    /// Lists completed uploads again, in the order in which they were completed.
    ///
    /// - Parameter fileIDs: nil for all of which enough is known.
    package func readopt(_ fileIDs: Set<String>?, at now: UnixTime) throws -> [RepairResult] {
        try writing { database in
            guard try matchesStoreGeneration(database) else {
                throw DataDirectory.Problem(
                    description:
                        "the database and the store were not last used together: run doctor with --reconcile first")
            }
            let store = OfflineStore(directory: directory.store)
            let quarantined = try quarantined()
            let unlisted = try database.readBlocking { try self.unlisted(DoctorRecords(connection: $0)) }
            let isQuarantined = Set(quarantined.map(\.fileID))
            let all = (quarantined + unlisted).sorted { $0.at < $1.at }
            var treated: [RepairResult] = []
            for file in all where fileIDs?.contains(file.fileID) ?? (file.facts != nil) {
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
                    if isQuarantined.contains(file.fileID) {
                        try store.readopt(facts.file, database, write)
                    } else {
                        guard try store.holds(facts.file) else { throw OfflineStore.ReadoptionError.isDamaged }
                        try database.writeBlocking { try write($0) }
                    }
                    treated.append(RepairResult(fileID: file.fileID, problem: nil))
                } catch {
                    treated.append(RepairResult(fileID: file.fileID, problem: "\(error)"))
                }
            }
            let known = Set(all.map(\.fileID))
            return treated
                + (fileIDs ?? []).subtracting(known).sorted().map {
                    RepairResult(fileID: $0, problem: "the store has no such file to re-adopt")
                }
        }
    }

    /// Removes files from quarantine for good.
    package func delete(_ fileIDs: Set<String>) throws -> [RepairResult] {
        let store = OfflineStore(directory: directory.store)
        return try fileIDs.sorted().map {
            RepairResult(
                fileID: $0, problem: try store.deleteQuarantined($0) ? nil : "the quarantine has no such file")
        }
    }

    private func writing<T>(_ body: (Database) throws -> T) throws -> T {
        let database = try Database(path: directory.database, migrations: migrations)
        defer { database.close() }
        return try body(database)
    }

    private func matchesStoreGeneration(_ database: Database) throws -> Bool {
        guard let identity = try OfflineStore(directory: directory.store).identity else { return false }
        return try database.readBlocking { try StoreIdentity.recorded(in: $0) }?.belongs(to: identity) ?? false
    }
}
