/// Takes bytes in order; blocks until it has.
protocol ArchiveSink: AnyObject {
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

/// Gives bytes in order.
protocol ArchiveSource: AnyObject {
    /// Fills the buffer as far as there are bytes.
    ///
    /// - Returns: how many there are; fewer than asked for at the end only.
    func read(_ count: Int) throws -> [UInt8]
}

extension ArchiveSink {
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }
}

extension ArchiveSource {
    /// - Throws: `truncated` where there are fewer.
    func readExactly(_ count: Int) throws -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else { throw ArchiveError.truncated }
        return bytes
    }
}
