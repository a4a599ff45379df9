/// A sequential output; writing blocks until the bytes are accepted.
protocol ArchiveSink: AnyObject {
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

/// A sequential input.
package protocol ArchiveSource: AnyObject {
    /// Reads up to `count` bytes.
    ///
    /// - Returns: the bytes; fewer than `count` only at the end.
    func read(_ count: Int) throws -> [UInt8]
}

extension ArchiveSink {
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }
}

extension ArchiveSource {
    /// - Throws: `truncated` if there are fewer bytes.
    func readExactly(_ count: Int) throws -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else { throw ArchiveError.truncated }
        return bytes
    }
}
