import Database

/// Questions of the capabilities about an upload, each inside a transaction of theirs.
extension ObjectStore {
    /// All that the store holds of an upload, with its parts counted.
    package func snapshot(uploadID: String, in connection: Connection) throws -> StoreSnapshot {
        let records = StoreRecords(connection)
        let open = try records.openMultiparts(uploadID: uploadID)
        return StoreSnapshot(
            multiparts: open.filter { !$0.isLost }.map(\.multipart), object: try records.object(uploadID: uploadID),
            isLost: try open.contains(where: \.isLost) || records.isObjectLost(uploadID: uploadID))
    }

    /// How far an upload has come, at a cost that does not grow with what its client made.
    package func progress(uploadID: String, in connection: Connection) throws -> StoreProgress {
        let records = StoreRecords(connection)
        let (hasMultipart, hasPart, hasLost) = try records.progress(uploadID: uploadID)
        return StoreProgress(
            hasMultipart: hasMultipart, hasPart: hasPart, object: try records.object(uploadID: uploadID),
            isLost: try hasLost || records.isObjectLost(uploadID: uploadID))
    }

    /// The finished object of an upload.
    package func object(uploadID: String, in connection: Connection) throws -> StoredObject? {
        try StoreRecords(connection).object(uploadID: uploadID)
    }

    /// Forgets all that the store holds of an upload: multipart uploads, parts and the object. Nobody sees any of it once
    /// `transaction` has committed; files, and rows beyond some dozen, go after that.
    package func discard(uploadID: String, in transaction: Connection) throws {
        try discards.finish(StoreRecords(transaction).discardAll(uploadID: uploadID), in: transaction)
    }

    /// Forgets every multipart upload of an upload but the one that its object is made of, as ``discard(uploadID:in:)``.
    package func dropOtherMultiparts(uploadID: String, in transaction: Connection) throws {
        let discarded = try StoreRecords(transaction).discard(
            .others(uploadID: uploadID), limit: Discards.inline)
        try discards.finish(discarded, in: transaction)
    }
}
