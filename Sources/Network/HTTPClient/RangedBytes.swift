/// Bytes that can be read at any offset, by any number of threads at once.
package protocol RangedBytes: Sendable {
    /// Reads bytes at an offset; may block.
    ///
    /// - Returns: the number of bytes read, 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension RangedBytes {
    /// Passes a part of the bytes to `body` block by block; stops early at their end.
    package func forEachBlock(of range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { block.deallocate() }
        var place = range.lowerBound
        while place < range.upperBound {
            try Task.checkCancellation()
            let wanted = Int(min(Int64(block.count), range.upperBound - place))
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: block[..<wanted]), at: place)
            guard count > 0 else { return }
            try body(UnsafeRawBufferPointer(rebasing: block[..<count]))
            place += Int64(count)
        }
    }
}
