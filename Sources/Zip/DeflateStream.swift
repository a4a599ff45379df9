import CZlib

/// Writes a raw deflate stream (RFC 1951) in pieces.
final class DeflateWriter {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init() {
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        let started = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        precondition(started == Z_OK, "zlib has no memory for a stream")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses a piece, and appends the available output.
    func write(_ piece: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: piece.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(piece.count)
        repeat {
            let block = [UInt8](unsafeUninitializedCapacity: 32 << 10) { block, count in
                stream.pointee.next_out = block.baseAddress
                stream.pointee.avail_out = UInt32(block.count)
                deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                count = block.count - Int(stream.pointee.avail_out)
            }
            output += block
        } while stream.pointee.avail_out == 0
    }
}

/// Reads a raw deflate stream (RFC 1951) in pieces.
final class DeflateReader {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    /// Whether the stream's last block was read.
    private(set) var isAtEnd = false

    init() {
        stream.initialize(to: z_stream())
        let started = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(started == Z_OK, "zlib has no memory for a stream")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses a piece into `block`, which is reused, and calls `body` each time the block is full, and at the end.
    ///
    /// - Returns: whether the piece is part of a valid stream, without bytes after the stream's end.
    func read<Failure: Error>(
        _ piece: UnsafeRawBufferPointer, into block: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: piece.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(piece.count)
        while !isAtEnd {
            stream.pointee.next_out = block.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(block.count)
            let status = inflate(stream, Z_NO_FLUSH)
            let count = block.count - Int(stream.pointee.avail_out)
            if count > 0 { try body(UnsafeRawBufferPointer(rebasing: block[..<count])) }
            isAtEnd = status == Z_STREAM_END
            // Z_BUF_ERROR: the piece ends within a block.
            guard status == Z_OK || isAtEnd || status == Z_BUF_ERROR else { return false }
            if stream.pointee.avail_in == 0, stream.pointee.avail_out > 0 { break }
            if status == Z_BUF_ERROR { return false }
        }
        return stream.pointee.avail_in == 0
    }
}
