import Basics
import Crypto
package import Database
package import ObjectStore

/// Files whose bytes come from another engine, or are on their way to one.
extension S3Engine {
    /// Whether the file is a new one of this process without a row.
    package func isPending(_ fileID: String) -> Bool { pending.withLock { $0[fileID] != nil } }

    /// Begins to store the bytes of a file as a new layout.
    ///
    /// - Parameter place: that of its object.
    package func makeLayout(of file: StoredFile, at place: StoredObject.Place) throws -> LayoutWriter {
        let label = SegmentLabel(FilePurpose(place), storeID: try storeID, at: clock.now())
        return LayoutWriter(file, label, bucket, try database, open)
    }

    /// Makes a new layout that of a file without segments.
    package func record(_ layout: LayoutWriter, of fileID: String, in transaction: Connection) throws {
        try requireOwnership()
        try StoreRecords(transaction).addFile(fileID, layout: layout.record(in: transaction))
        try noteChange(in: transaction)
    }

    /// Writes facts of a file with its new layout, before that is recorded.
    package func writeFacts(_ facts: [UInt8], of fileID: String, _ layout: LayoutWriter) throws {
        try bucket.write(FactsDocument(facts, layout.numberedSegments), of: fileID)
    }

    /// Takes the segments from a file, and schedules their removal.
    package func release(_ fileID: String, in transaction: Connection) throws {
        let released = Hex.lower(Random.bytes(16))
        try StoreRecords(transaction).renameFile(fileID, to: released)
        try scheduleRemoval(of: released, in: transaction)
        try noteChange(in: transaction)
    }

    package func removeFacts(of fileID: String) throws { _ = try bucket.remove([bucket.factsKey(of: fileID)]) }
}
