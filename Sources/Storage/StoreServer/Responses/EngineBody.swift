import HTTPTypes
import ObjectStore

/// A response's body from an engine whose bytes are not in a local file. Used by one thread at a time.
final class EngineBody: HTTPBodySource, @unchecked Sendable {  // used by one thread at a time
    private let bytes: any StoredBytes
    private var range: Range<Int64>

    init(_ bytes: any StoredBytes, _ range: Range<Int64>) {
        self.bytes = bytes
        self.range = range
    }

    var hasFiles: Bool { false }

    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) -> HTTPBodyPiece? {
        guard !range.isEmpty else { return .buffered(0) }
        let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.count))
        guard let count = try? bytes.read(into: wanted, at: range.lowerBound), count > 0 else { return nil }
        range = range.lowerBound + Int64(count)..<range.upperBound
        return .buffered(count)
    }

    func fileFailed() {}

    func close() {}
}
