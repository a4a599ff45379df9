import HTTPClient

extension FileReader {
    /// Returns the digest of a part of the file; `nil` if the file ends before it. It reads the part, so it must not be called on
    /// an event loop.
    package func digest(of range: Range<Int64>) throws -> ContentDigest? {
        var digest = ContentDigest()
        var count: Int64 = 0
        try forEachBlock(of: range) { block in
            digest.update(block)
            count += Int64(block.count)
        }
        return count == Int64(range.count) ? digest : nil
    }
}
