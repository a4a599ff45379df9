import Basics
import Checksums
import Crypto
package import Database
import Glibc
import HTTPClient
package import ObjectStore
import StoreClient
import StoreProtocol

/// Stores the bytes of a file as a new layout, of segments that are as large as is good for reading them.
///
/// The removal of each segment is scheduled before it is stored, and the transaction that adds the layout cancels it. So segments of a
/// process that ended between are removed later, and none is removed that has a row. Used by one thread at a time.
package final class LayoutWriter: @unchecked Sendable {  // used by one thread at a time
    /// The size of all segments but the last in bytes, unless a layout would have too many of them. A multiple of the alignment of direct
    /// reads.
    static let segmentSize: Int64 = 64 << 20
    /// The largest number of segments of a layout.
    static let mostSegments: Int64 = 8192

    /// A segment whose removal is scheduled.
    private struct Attempt {
        let segmentID: String
        let reservation: OpenSegments.Reading
    }

    private let file: StoredFile
    private let label: SegmentLabel
    private let bucket: SegmentBucket
    private let reservations: SegmentReservations
    private let layoutID = Random.hex(16)
    private var attempts: [Attempt] = []
    /// The number of attempts that were used.
    private var used = 0
    private var segments: [Segment] = []

    /// - Parameter label: describes the bytes of the whole file.
    init(_ file: StoredFile, _ label: SegmentLabel, _ bucket: SegmentBucket, _ reservations: SegmentReservations) {
        self.file = file
        self.label = label
        self.bucket = bucket
        self.reservations = reservations
    }

    /// Stores all bytes, and compares the sums of those that were read and of those that were stored.
    ///
    /// - Parameters:
    ///   - goesOn: read between two pieces; `false` ends the work.
    ///   - isDamaged: whether the file is known not to match its checksum, so that its bytes are stored as they are.
    /// - Throws: `unreadable` if the bytes do not match the file's checksum, `missing` if there are fewer.
    package func store(_ bytes: any StoredBytes, isDamaged: Bool, while goesOn: () -> Bool) throws {
        guard try bytes.size() == file.size else { throw StorageFailure.missing }
        let size = max(Self.segmentSize, (file.size / Self.mostSegments / 4096 + 1) * 4096)
        try reserve(Int(file.size / size) + 1)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer { buffer.deallocate() }
        var crc64: UInt64 = 0
        for start in stride(from: 0, to: max(1, file.size), by: Int64.Stride(size)) {
            let range = start..<min(start + size, file.size)
            let segment = try bucket.budget.repeating { [self] in
                try attempt(range, of: bytes, buffer, while: goesOn)
            }
            crc64 = CRC.crc64.combine(crc64, segment.content.crc64, secondLength: segment.size)
            segments.append(segment)
        }
        guard isDamaged || crc64 == file.crc64 else { throw StorageFailure.unreadable(errno: EIO) }
    }

    /// Adds the layout, in the transaction that makes it that of a file, and cancels the removal of its segments.
    ///
    /// - Returns: its id.
    package func record(in transaction: Connection) throws -> String {
        let records = StoreRecords(transaction)
        for segment in numberedSegments {
            guard try records.cancelRemoval(segment.segment.id) else { throw StorageFailure.missing }
            _ = try records.setSegment(segment.number, of: layoutID, to: segment.segment)
        }
        return layoutID
    }

    var numberedSegments: [NumberedSegment] {
        segments.enumerated().map { NumberedSegment($0.offset + 1, $0.element) }
    }

    /// Schedules the removal of further segments.
    private func reserve(_ count: Int) throws {
        let segmentIDs = (0..<count).map { _ in Random.hex(16) }
        let reserved = try reservations.reserve(segmentIDs, mayUseReserve: true)
        attempts += zip(segmentIDs, reserved).map(Attempt.init)
    }

    private func attempt(
        _ range: Range<Int64>, of bytes: any StoredBytes, _ buffer: UnsafeMutableRawBufferPointer,
        while goesOn: () -> Bool
    ) throws -> Segment {
        if used == attempts.count { try reserve(1) }
        let segmentID = attempts[used].segmentID
        used += 1
        var properties = bucket.configuration.properties
        properties.isNew = bucket.report.honorsConditions
        properties.metadata = label.metadata
        let (key, size) = (bucket.key(of: segmentID), Int64(range.count))
        let upload = try BlockingCall.run { [transfers = bucket.transfers, properties] in
            try await transfers.upload(key, size: size, properties)
        }
        var isSent = false
        defer { if !isSent { upload.cancel() } }
        var (md5, crc64) = (RunningMD5(), CRC64())
        var position = range.lowerBound
        while position < range.upperBound {
            guard goesOn() else { throw CancellationError() }
            let count = try Self.read(buffer, position..<range.upperBound, of: bytes)
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            md5.update(piece)
            crc64.update(piece)
            position += Int64(count)
            // If the store takes no more, the response says why.
            guard try upload.writeBlocking(piece) else { break }
        }
        let etag = try BlockingCall.run { try await upload.finish() }
        isSent = true
        let segment = Segment(segmentID, FileContent(size: size, crc64: crc64.value))
        if bucket.report.hasMD5ETags {
            guard ETag.matches(etag, Hex.lower(md5.finalize())) else { throw Self.otherBytes }
        } else {
            try compare(segment)
        }
        return segment
    }

    private static func read(
        _ buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int64>, of bytes: any StoredBytes
    ) throws -> Int {
        // A direct read is of whole sectors, also at the end of the file.
        let wanted = min(buffer.count, (range.count + 4095) / 4096 * 4096)
        let count = try bytes.readPassing(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: range.lowerBound)
        guard count > 0 else { throw StorageFailure.missing }
        return min(count, range.count)
    }

    /// Reads a segment, and compares its checksum.
    private func compare(_ segment: Segment) throws {
        do {
            try SegmentedBytes([segment], in: bucket, try reservations.open.reserve([])).forEachPiece { _ in }
        } catch StorageFailure.unreadable {
            throw Self.otherBytes
        }
    }

    private static var otherBytes: StorageFailure {
        .engine("the object engine stored other bytes than those that were sent to it")
    }
}
