import Basics
import Checksums
import Glibc
import HTTPClient
import ObjectStore
import StoreClient

/// The bytes of a data file in the bucket: its segments, one after the other.
///
/// Bytes that are read in order come from one request for each segment; shortly before the end of one, the next is requested. Of a
/// segment that is read from its beginning, the last bytes are passed on only if its checksum is right.
final class SegmentedBytes: StoredBytes, @unchecked Sendable {  // used by one thread at a time
    /// The number of bytes before the end of a segment from which on the next one is requested.
    private static let ahead: Int64 = 1 << 20

    /// A segment that is being read.
    private struct Stream {
        let index: Int
        let download: HTTPDownload
        /// The position in the segment.
        var position: Int64
        /// The checksum of all bytes before the position; `nil` if some were left out.
        var crc64: CRC64?
    }

    private let bucket: SegmentBucket
    private let segments: [Segment]
    /// The position of each segment, and that of the end.
    private let starts: [Int64]
    private let reading: OpenSegments.Reading
    private lazy var reader = bucket.transfers.makeReader()
    private var stream: Stream?
    private var next: (index: Int, Task<HTTPDownload, any Error>)?

    init(_ segments: [Segment], in bucket: SegmentBucket, _ reading: OpenSegments.Reading) {
        self.segments = segments.filter { $0.size > 0 }
        self.bucket = bucket
        self.reading = reading
        starts = self.segments.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.size) }
    }

    deinit {
        next?.1.cancel()
        // Before the reader, which the next one may get with the connection.
        stream = nil
    }

    func size() -> Int64 { starts.last ?? 0 }

    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        while position < size() {
            let count = try read(into: buffer, at: position)
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int {
        guard position < size(), !buffer.isEmpty else { return 0 }
        let index = index(at: position)
        let offset = position - starts[index]
        if stream?.index != index || stream?.position != offset { stream = try open(index, at: offset) }
        var isCut = false
        return try bucket.budget.repeating {
            if isCut { try reopen() }
            isCut = true
            return try readOn(into: buffer)
        }
    }

    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int {
        try read(into: buffer, at: position)
    }

    func takeDescriptor() -> Int32? { nil }

    // MARK: Streams

    /// Returns the index of the segment at a position.
    private func index(at position: Int64) -> Int {
        var (low, high) = (0, segments.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= position { low = middle } else { high = middle - 1 }
        }
        return low
    }

    private func open(_ index: Int, at offset: Int64) throws -> Stream {
        stream = nil
        let crc64 = offset == 0 ? CRC64() : nil
        if let (prepared, task) = next.take() {
            if prepared == index, offset == 0, let download = try? reader.result(of: task) {
                return Stream(index: index, download: download, position: 0, crc64: crc64)
            }
            task.cancel()
        }
        return Stream(index: index, download: try download(index, from: offset), position: offset, crc64: crc64)
    }

    /// Continues the stream with a new request, at the byte where the one before was cut.
    private func reopen() throws {
        guard let cut = stream.take() else { return }
        stream = Stream(
            index: cut.index, download: try download(cut.index, from: cut.position), position: cut.position,
            crc64: cut.crc64)
    }

    private func download(_ index: Int, from offset: Int64) throws -> HTTPDownload {
        try bucket.budget.repeating { try reader.result(of: request(index, from: offset)) }
    }

    private func request(_ index: Int, from offset: Int64) -> Task<HTTPDownload, any Error> {
        let (segment, key) = (segments[index], bucket.key(of: segments[index].id))
        return BlockingCall.start { [transfers = bucket.transfers, reader] in
            try await transfers.download(key, offset..<segment.size, by: reader)
        }
    }

    /// Reads the next bytes of the stream.
    private func readOn(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard var stream else { throw StorageFailure.missing }
        let segment = segments[stream.index]
        let rest = segment.size - stream.position
        let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), rest))])
        let count = try stream.download.readBlocking(into: wanted)
        guard count > 0 else { throw TransferFailure.connection("the object engine ended its response early") }
        stream.crc64?.update(UnsafeRawBufferPointer(rebasing: wanted[..<count]))
        stream.position += Int64(count)
        bucket.activity.received(count)
        self.stream = stream
        if stream.position == segment.size, let crc64 = stream.crc64, crc64.value != segment.content.crc64 {
            throw StorageFailure.unreadable(errno: EIO)
        }
        if segment.size - stream.position <= Self.ahead, next == nil, stream.index + 1 < segments.count {
            next = (stream.index + 1, request(stream.index + 1, from: 0))
        }
        return count
    }
}
