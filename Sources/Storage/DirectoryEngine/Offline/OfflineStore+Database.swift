import Basics
package import Database
package import ObjectStore

extension OfflineStore: OfflineObjects {
    package func belongs(to connection: ReadConnection) throws -> Bool {
        let recorded = try StoreIdentity.recorded(in: connection)
        return try identity.map { recorded?.belongs(to: $0) ?? false } ?? (recorded == nil)
    }

    package func permitsReadoption(to connection: ReadConnection) throws -> Bool { try belongs(to: connection) }

    package func quarantined(_ connection: ReadConnection) throws -> [QuarantinedFile] { try quarantined() }

    package func lacking(_ connection: ReadConnection) throws -> [String] { [] }

    package func reconcile(
        _ database: Database, isListed: (ReadConnection, String) throws -> Bool
    ) throws -> Int? {
        let marksAreComplete = try database.readBlocking { try seal(objectsOf: $0) }
        return try reconcile(database, marksAreComplete: marksAreComplete, isListed: isListed)
    }

    package func readopt(
        _ file: StoredFile, isQuarantined: Bool, _ database: Database,
        _ body: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        if isQuarantined { return try readopt(file, database, body) }
        guard try holds(file) else { throw ReadoptionError.isDamaged }
        try database.writeBlocking { try body($0) }
    }

    package func finishReadoption(_ database: Database) throws {}

    package func deleteQuarantined(_ fileID: String, _ database: () throws -> Database) throws -> Bool {
        try deleteQuarantined(fileID)
    }
}

/// Operations on a store together with its database.
extension OfflineStore {
    /// Compares all rows and files; changes nothing.
    ///
    /// - Parameter checksums: whether every object is read.
    package func compare(
        with connection: ReadConnection, checksums: Bool, _ report: (StoreFinding) throws -> Void
    ) throws {
        let records = StoreRecords(connection)
        for folder in DirectoryEngine.folders {
            var uses = try records.files(withPrefix: folder)
            let scheduled = try records.scheduledRemovals(withPrefix: folder)
            for entry in try data.files(inFolder: folder).sorted(by: { $0.fileID < $1.fileID }) {
                let use = uses.removeValue(forKey: entry.fileID)
                if scheduled.contains(entry.fileID) {
                    try report(.scheduled(fileID: entry.fileID, size: entry.size))
                } else if use?.kind == .object, let file = try records.storedFile(entry.fileID) {
                    if file.size != entry.size {
                        try report(.missing(file))
                    } else if checksums, try !holds(file) {
                        try report(.damaged(file))
                    }
                } else if try use == nil && data.isRedundantDuplicate(entry.fileID) {
                    try report(.stray(fileID: entry.fileID, size: entry.size))
                } else if try data.isFinished(entry) || use == nil && data.isUnresolvedDuplicate(entry.fileID) {
                    try report(.unknown(fileID: entry.fileID, size: entry.size))
                } else if use == nil {
                    try report(.stray(fileID: entry.fileID, size: entry.size))
                }
            }
            for (fileID, use) in uses.sorted(by: { $0.key < $1.key }) {
                if use.kind == .object, let file = try records.storedFile(fileID) {
                    try report(.missing(file))
                } else {
                    try report(.uploadWithoutFile(fileID: fileID))
                }
            }
        }
    }

    /// Marks the files of a database's objects as finished, because a power loss may have taken the mark back: a database that is older
    /// than an object knows nothing else about its file.
    ///
    /// - Returns: whether the database was last used with this store. Then every other file is of a request that was never acknowledged
    ///   as an object.
    package func seal(objectsOf connection: ReadConnection) throws -> Bool {
        guard let identity = try identity, try StoreIdentity.recorded(in: connection)?.belongs(to: identity) == true
        else { return false }
        let records = StoreRecords(connection)
        for folder in DirectoryEngine.folders {
            let uses = try records.files(withPrefix: folder)
            for entry in try data.files(inFolder: folder)
            where !entry.isFinished && uses[entry.fileID]?.kind == .object {
                data.seal(entry.fileID)
            }
        }
        return true
    }

    /// Reconciles the store with a database whose rows may be older than the files: finished objects' files that the database does
    /// not know as such go into quarantine, none is removed, and from then on both have the same generation. A file whose removal the
    /// database has scheduled stays for that.
    ///
    /// - Parameters:
    ///   - marksAreComplete: whether every finished file is marked as such; see ``seal(objectsOf:)``. Otherwise any file that the
    ///     database does not know may be an object's, and is moved to quarantine.
    ///   - isListed: returns whether the catalog has an object with that file. A completed upload that is not listed would be swept
    ///     with the session in its row.
    /// - Returns: the number of files put into quarantine; `nil` if the store belongs to another database.
    package func reconcile(
        _ database: Database, marksAreComplete: Bool, isListed: (ReadConnection, String) throws -> Bool
    ) throws -> Int? {
        guard let recorded = try database.readBlocking({ try StoreIdentity.recorded(in: $0) }),
            let identity = try identity,
            recorded.id == identity.id
        else { return nil }
        var quarantined = 0
        for folder in DirectoryEngine.folders {
            let (uses, scheduled) = try database.readBlocking {
                let records = StoreRecords($0)
                return (try records.files(withPrefix: folder), try records.scheduledRemovals(withPrefix: folder))
            }
            for entry in try data.files(inFolder: folder) where !scheduled.contains(entry.fileID) {
                let use = uses[entry.fileID]
                guard try data.isFinished(entry) || (use == nil && !marksAreComplete) else { continue }
                let isKnown =
                    try use?.kind == .object
                    && (!data.hasFacts(of: entry.fileID) || database.readBlocking { try isListed($0, entry.fileID) })
                if isKnown { continue }
                try data.quarantine(entry.fileID)
                data.unmarkDuplicate(entry.fileID)
                quarantined += 1
                // An upload that its row considers in progress has to be restarted.
                try database.writeBlocking { _ = try StoreRecords($0).markLost(entry.fileID, true) }
            }
        }
        let next = StoreIdentity(id: identity.id, generation: max(recorded.generation, identity.generation) + 1)
        try database.writeBlocking { try next.record(in: $0) }
        try setIdentity(next)
        return quarantined
    }
}
