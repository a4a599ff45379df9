import Basics
import Crypto
package import Database
package import ObjectStore

/// Files of which more bytes follow: each append adds a segment to the layout.
extension S3Engine {
    /// The number of segments of a layout from which on an append writes all bytes as one segment: a download needs a request for each.
    static let mostAppended = 1000

    package func extend(_ fileID: String, _ purpose: FilePurpose, length: Int64?) throws -> NewFile? {
        let isExtensible = try database.readBlocking { connection in
            try Self.extensibleLayout(of: fileID, StoreRecords(connection)) != nil
        }
        guard isExtensible else { return nil }
        let file = add(.extension(purpose, storeID: try storeID, try reservations))
        return NewFile(file.id, SegmentSink(file, in: bucket, spool, length: length), in: self)
    }

    package func recordExtension(
        _ fileID: String, of other: String, _ content: FileContent, in transaction: Connection
    ) throws -> Bool {
        try requireOwnership()
        let records = StoreRecords(transaction)
        guard let segmentID = try pendingFile(fileID).segmentID else { throw StorageFailure.missing }
        guard let layoutID = try Self.extensibleLayout(of: other, records), try records.cancelRemoval(segmentID) else {
            return false
        }
        try noteChange(in: transaction)
        // Under another id, so that who reads or copies the bytes of before does not take them for all.
        try records.renameFile(other, to: fileID)
        let number = try records.lastSegment(of: layoutID) + 1
        _ = try records.setSegment(number, of: layoutID, to: Segment(segmentID, content))
        return true
    }

    /// Returns the layout of a file to which a segment can be added.
    private static func extensibleLayout(
        of fileID: String, _ records: StoreRecords<some ReadConnection>
    ) throws -> String? {
        guard let layoutID = try records.layout(of: fileID), try !records.isShared(layout: layoutID),
            try records.lastSegment(of: layoutID) < mostAppended
        else { return nil }
        return layoutID
    }
}

/// Files whose bytes come from another engine, or are on their way to one.
extension S3Engine {
    /// Whether the file is a new one of this process without a row.
    package func isPending(_ fileID: String) -> Bool { pending.withLock { $0[fileID] != nil } }

    /// Begins to store the bytes of a file as a new layout.
    ///
    /// - Parameter place: that of its object.
    package func makeLayout(of file: StoredFile, at place: StoredObject.Place) throws -> LayoutWriter {
        let label = SegmentLabel(FilePurpose(place), storeID: try storeID, at: clock.now())
        return LayoutWriter(file, label, bucket, try reservations)
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
        let released = Random.hex(16)
        try StoreRecords(transaction).renameFile(fileID, to: released)
        try scheduleRemoval(of: released, in: transaction)
        try noteChange(in: transaction)
    }

    package func removeFacts(of fileID: String) throws { _ = try bucket.remove([bucket.factsKey(of: fileID)]) }
}
