import HTTPClient

extension FileReader {
    /// The digest of a part of the file; `nil` where the file ends before it. Reads the part, so: not on an event loop.
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
