import Basics
import Database

/// A store beside the database that speaks of it.
extension OfflineStore {
    /// Where the two do not agree.
    package enum Finding: Sendable, Equatable {
        /// An object's file is gone, or shorter or longer than it was.
        case missing(StoredFile)
        /// An object's file holds other bytes than were stored.
        case damaged(StoredFile)
        /// The file of an upload under way is gone: it is to be restarted.
        case uploadWithoutFile(fileID: String)
        /// A finished object's file that no row speaks of, or speaks of as an upload under way.
        case unknown(fileID: String, size: Int64)
        /// The file of an upload under way that no row speaks of.
        case stray(fileID: String, size: Int64)
    }

    /// Compares all rows and files; changes nothing.
    ///
    /// - Parameter checksums: whether every object is read.
    package func compare(
        with connection: Connection, checksums: Bool, _ report: (Finding) throws -> Void
    ) throws {
        let records = StoreRecords(connection)
        for folder in DirectoryEngine.folders {
            var uses = try records.files(withPrefix: folder)
            for entry in try data.files(inFolder: folder) {
                let use = uses.removeValue(forKey: entry.fileID)
                if use?.kind == .object, let file = try records.storedFile(entry.fileID) {
                    if file.size != entry.size {
                        try report(.missing(file))
                    } else if checksums, try !holds(file) {
                        try report(.damaged(file))
                    }
                } else if try data.isFinished(entry) {
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

    /// Has a database go with this store, whose rows may be older than the files: finished objects' files that it does
    /// not know as such go into quarantine, none is removed, and from then on both count as of one age.
    ///
    /// - Parameter isListed: whether the catalog has an object of that file. What was completed and is in no list would be
    ///   swept with the session that its row still has.
    /// - Returns: how many files went into quarantine; nil where the store is not the database's own.
    package func reconcile(
        _ database: Database, isListed: (Connection, String) throws -> Bool
    ) throws -> Int? {
        guard let recorded = try database.readBlocking({ try StoreIdentity.recorded(in: $0) }),
            let identity = try identity,
            recorded.id == identity.id
        else { return nil }
        var quarantined = 0
        for folder in DirectoryEngine.folders {
            let uses = try database.readBlocking { try StoreRecords($0).files(withPrefix: folder) }
            for entry in try data.files(inFolder: folder) where try data.isFinished(entry) {
                let isKnown =
                    try uses[entry.fileID]?.kind == .object
                    && (!data.hasFacts(of: entry.fileID) || database.readBlocking { try isListed($0, entry.fileID) })
                if isKnown { continue }
                try data.quarantine(entry.fileID)
                quarantined += 1
                // What a row takes for an upload under way is to be restarted.
                try database.writeBlocking { _ = try StoreRecords($0).markLost(entry.fileID, true) }
            }
        }
        let next = StoreIdentity(id: identity.id, generation: max(recorded.generation, identity.generation) + 1)
        try database.writeBlocking { try StoreRecords($0).setIdentity(next) }
        try setIdentity(next)
        return quarantined
    }

    /// Forgets all that is stored of an upload; its files go when the gateway serves.
    package static func discard(uploadID: String, in transaction: Connection) throws {
        let records = StoreRecords(transaction)
        try records.scheduleRemoval(records.discardAll(uploadID: uploadID).files)
    }

    /// Has the rows say what a file that is at its path is: a finished object.
    package static func adopt(_ object: StoredObject, partSize: Int64, in transaction: Connection) throws {
        try StoreRecords(transaction).adopt(object, partSize: partSize)
    }
}
