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

    /// Forgets all that the store holds of an upload: multipart uploads, parts and the object.
    public func discard(uploadID: String, in transaction: Connection) throws -> Discarded {
        let records = StoreRecords(transaction)
        let objectFiles = try records.deleteObject(uploadID: uploadID)
        return try records.scheduleRemoval(objectFiles + records.deleteOpenMultiparts(uploadID: uploadID))
    }

    /// Forgets every multipart upload of an upload but the one that its object is made of.
    public func dropOtherMultiparts(uploadID: String, in transaction: Connection) throws -> Discarded {
        let records = StoreRecords(transaction)
        return try records.scheduleRemoval(records.deleteOpenMultiparts(uploadID: uploadID))
    }
}
