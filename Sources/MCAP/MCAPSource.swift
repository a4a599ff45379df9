/// The bytes of a recording.
package protocol MCAPSource {
    /// The length of the file in bytes.
    var size: Int64 { get }

    /// Reads at an offset. A read within ``size`` fills the buffer or throws.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError)
}

extension MCAPSource {
    func bytes(at offset: Int64, count: Int64) throws(MCAPError) -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
            throw .malformed("a record refers to bytes outside of the file")
        }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(MCAPError) in try read(at: offset, into: buffer) }
        }
        try result.get()
        return bytes
    }
}

/// A recording in memory.
package struct MCAPBytes: MCAPSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var size: Int64 { Int64(bytes.count) }

    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError) {
        buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
    }
}

/// A part of a recording that is in memory and moves through the file. It is small where records are skipped, and grows while
/// they are read one after the other.
struct MCAPWindow<Source: MCAPSource> {
    private static var smallest: Int { 4 << 10 }
    private static var largest: Int { 256 << 10 }

    let source: Source
    /// The number of bytes that may be read in all.
    private let limit: Int64
    private(set) var bytesRead: Int64 = 0

    private var bytes: [UInt8] = []
    private var start: Int64 = 0

    init(_ source: Source, limit: Int64) {
        self.source = source
        self.limit = limit
    }

    /// Returns the bytes at an offset. There are at most ``MCAPRecord/longestPrefix`` of them.
    mutating func bytes(at offset: Int64, count: Int) throws(MCAPError) -> ArraySlice<UInt8> {
        guard offset >= 0, offset <= source.size, count <= source.size - offset else {
            throw .malformed("a record refers to bytes outside of the file")
        }
        if offset < start || offset + Int64(count) > start + Int64(bytes.count) {
            try move(to: offset, atLeast: count)
        }
        let first = Int(offset - start)
        return bytes[first..<first + count]
    }

    private mutating func move(to offset: Int64, atLeast count: Int) throws(MCAPError) {
        let isNext = offset > start && offset <= start + Int64(bytes.count)
        let wanted = max(count, isNext ? min(2 * bytes.count, Self.largest) : Self.smallest)
        let length = min(Int64(wanted), source.size - offset)
        guard bytesRead + length <= limit else {
            throw .limitExceeded("at most \(limit) bytes of a recording are read")
        }
        bytes = try source.bytes(at: offset, count: length)
        start = offset
        bytesRead += length
    }
}
