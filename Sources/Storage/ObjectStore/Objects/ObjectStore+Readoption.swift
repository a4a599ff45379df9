package import Database

/// The rows of objects whose files are found or given up while no gateway serves.
extension ObjectStore {
    /// Whether the removal of a file is scheduled: all of its rows were deleted.
    package static func isRemovalScheduled(of fileID: String, in connection: ReadConnection) throws -> Bool {
        try StoreRecords(connection).isRemovalScheduled(fileID)
    }

    /// Deletes the store's whole state of an upload; its files are removed when the gateway serves.
    package static func discard(uploadID: String, in transaction: Connection) throws {
        let records = StoreRecords(transaction)
        try records.scheduleRemoval(records.discardAll(uploadID: uploadID).files)
    }

    /// Writes the rows for a file at its path as a finished object's.
    package static func adopt(_ object: StoredObject, partSize: Int64, in transaction: Connection) throws {
        try StoreRecords(transaction).adopt(object, partSize: partSize)
    }
}
