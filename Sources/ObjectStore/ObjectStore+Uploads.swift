import Database

/// What the rooms above ask about an upload, each inside a transaction of their own.
extension ObjectStore {
    public func snapshot(uploadID: String, in connection: Connection) throws -> StoreSnapshot {
        let records = StoreRecords(connection)
        let multiparts = try records.multiparts(uploadID: uploadID).filter { !$0.isCompleted }
        return StoreSnapshot(
            multiparts: try multiparts.filter { !$0.isLost }.map {
                StoreSnapshot.Multipart(id: $0.id, partCount: try records.partCount(of: $0.id))
            },
            object: try records.object(uploadID: uploadID),
            isLost: try multiparts.contains { $0.isLost } || records.isObjectLost(uploadID: uploadID))
    }

    /// Forgets all that the store holds of an upload: multipart uploads, parts and the object. Their files go once
    /// `transaction` has committed.
    public func discard(uploadID: String, in transaction: Connection) throws {
        let records = StoreRecords(transaction)
        let objectFiles = try records.deleteObject(uploadID: uploadID)
        try removals.schedule(objectFiles + records.deleteOpenMultiparts(uploadID: uploadID), in: transaction)
    }

    /// Forgets every multipart upload of an upload but the one that its object is made of, as ``discard(uploadID:in:)``.
    public func dropOtherMultiparts(uploadID: String, in transaction: Connection) throws {
        try removals.schedule(StoreRecords(transaction).deleteOpenMultiparts(uploadID: uploadID), in: transaction)
    }
}
