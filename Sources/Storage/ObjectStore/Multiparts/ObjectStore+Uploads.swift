package import Database

/// Queries of capabilities about an upload, each inside a transaction of theirs.
extension ObjectStore {
    /// Returns the store's whole state of an upload, with its parts counted.
    package func snapshot(uploadID: String, in connection: ReadConnection) throws -> StoreSnapshot {
        let records = StoreRecords(connection)
        let open = try records.openMultiparts(uploadID: uploadID)
        return StoreSnapshot(
            multiparts: open.filter { !$0.isLost }.map(\.multipart), object: try records.object(uploadID: uploadID),
            isLost: try open.contains(where: \.isLost) || records.isObjectLost(uploadID: uploadID))
    }

    /// Returns the progress of an upload, at a cost that does not depend on the number of its parts.
    package func progress(uploadID: String, in connection: ReadConnection) throws -> StoreProgress {
        let records = StoreRecords(connection)
        let (hasMultipart, hasPart, hasLost) = try records.progress(uploadID: uploadID)
        return StoreProgress(
            hasMultipart: hasMultipart, hasPart: hasPart, object: try records.object(uploadID: uploadID),
            isLost: try hasLost || records.isObjectLost(uploadID: uploadID))
    }

    /// Returns the acknowledged parts of a multipart upload, in the order of their numbers.
    package func parts(of multipartID: String, in connection: ReadConnection) throws -> [PartRecord] {
        try StoreRecords(connection).parts(of: multipartID)
    }

    /// Returns the finished object of an upload.
    package func object(uploadID: String, in connection: ReadConnection) throws -> StoredObject? {
        try StoreRecords(connection).object(uploadID: uploadID)
    }

    /// Deletes the store's whole state of an upload: multipart uploads, parts and the object. They become invisible with the commit
    /// of `transaction`; files, and all but some dozens of rows, are removed later.
    package func discard(uploadID: String, in transaction: Connection) throws {
        try work.discards.finish(StoreRecords(transaction).discardAll(uploadID: uploadID), in: transaction)
    }

    /// Deletes every multipart upload of an upload except the one of its object, like ``discard(uploadID:in:)``.
    package func dropOtherMultiparts(uploadID: String, in transaction: Connection) throws {
        let discarded = try StoreRecords(transaction).discard(
            .others(uploadID: uploadID), limit: Discards.inline)
        try work.discards.finish(discarded, in: transaction)
    }
}

/// The store's committed state of one upload id.
package struct StoreSnapshot: Sendable, Equatable {
    /// A multipart upload that is neither completed nor aborted.
    package struct Multipart: Sendable, Equatable {
        /// The UploadId that the store returned.
        package let id: String
        package let partCount: Int
    }

    /// The open multipart uploads in the order of their beginning.
    package let multiparts: [Multipart]
    package let object: StoredObject?
    /// Whether a data file with a row is missing, so that the attempt cannot be completed.
    package let isLost: Bool
}

/// The store's committed progress of one upload id.
package struct StoreProgress: Sendable, Equatable {
    /// Whether a multipart upload is neither completed nor aborted.
    package let hasMultipart: Bool
    /// Whether one of those has a part.
    package let hasPart: Bool
    package let object: StoredObject?
    /// Whether a data file with a row is missing, so that the attempt cannot be completed.
    package let isLost: Bool
}
