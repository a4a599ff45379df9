import Checksums

/// Reads an archive. The central directory defines its content; everything is checked against it before the first entry is read.
///
/// Archives are refused if programs interpret them differently, or if they can harm the reader: encrypted and split ones, names
/// outside of the target directory, duplicate names, overlapping entries, bytes before the first or after the last record, and
/// everything above ``ZipLimits``. Entries may be stored or deflated, with or without data descriptors and zip64 (APPNOTE 6.3.10).
package struct ZipReader<Source: ZipSource> {
    /// The files in the order of the directory, without entries of directories.
    package let entries: [ZipEntry]
    private let source: Source
    /// The offsets of the contents, by entry.
    private let contents: [String: Int64]

    package init(_ source: Source, limits: ZipLimits = ZipLimits()) throws(ZipError) {
        self.source = source
        let directory = try ZipDirectory(source, limits: limits)
        var contents: [String: Int64] = [:]
        var end: Int64 = 0
        for record in directory.records.sorted(by: { $0.entry.offset < $1.entry.offset }) {
            let start = try Self.contentOffset(of: record, in: source)
            guard record.entry.offset >= end else { throw .malformed("two entries overlap") }
            (end, _) = start.addingReportingOverflow(record.entry.compressedSize)
            guard end >= start, end <= directory.offset else { throw .malformed("an entry reaches into the directory") }
            contents[record.entry.name] = start
        }
        if let first = directory.records.map(\.entry.offset).min(), first != 0 {
            throw .malformed("the archive does not begin with an entry")
        }
        self.contents = contents
        entries = directory.records.filter { !$0.isDirectory }.map(\.entry)
    }

    /// Reads an entry, and calls `body` with pieces of at most 64 KiB.
    ///
    /// The pieces are unverified until the call returns: only then have the size and the checksum been compared.
    ///
    /// - Throws: ``ZipError/corrupted(name:)`` if they do not match, and whatever `body` throws.
    package func read(_ entry: ZipEntry, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard var offset = contents[entry.name] else { preconditionFailure("the entry is of another archive") }
        var checksum = CRC32()
        var left = entry.size
        func pass(_ piece: UnsafeRawBufferPointer) throws {
            guard Int64(piece.count) <= left else { throw ZipError.corrupted(name: entry.name) }
            left -= Int64(piece.count)
            checksum.update(piece)
            try body(piece)
        }
        let inflate = entry.method == .deflated ? DeflateReader() : nil
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
        defer { block.deallocate() }
        let input = UnsafeMutableRawBufferPointer(rebasing: block[..<(64 << 10)])
        let output = UnsafeMutableRawBufferPointer(rebasing: block[(64 << 10)...])
        let end = offset + entry.compressedSize
        while offset < end {
            let piece = UnsafeMutableRawBufferPointer(rebasing: input[..<Int(min(Int64(input.count), end - offset))])
            try source.read(at: offset, into: piece)
            offset += Int64(piece.count)
            if let inflate {
                guard try inflate.read(UnsafeRawBufferPointer(piece), into: output, pass) else {
                    throw ZipError.corrupted(name: entry.name)
                }
            } else {
                try pass(UnsafeRawBufferPointer(piece))
            }
        }
        guard left == 0, checksum.value == entry.crc32, inflate?.isAtEnd ?? true else {
            throw ZipError.corrupted(name: entry.name)
        }
    }

    /// Compares a local header with the directory.
    ///
    /// - Returns: the offset of the contents after it.
    private static func contentOffset(of record: ZipDirectory.Record, in source: Source) throws(ZipError) -> Int64 {
        let offset = record.entry.offset
        let bytes = try source.bytes(at: offset, count: ZipFormat.localHeaderBytes)
        var fields = LittleEndianReader(bytes[...])
        guard try fields.read() == ZipFormat.localHeader else { throw .malformed("a local header is missing") }
        _ = try fields.read(UInt16.self)
        let flags = try fields.read(UInt16.self)
        let method = try fields.read(UInt16.self)
        _ = try fields.read(UInt32.self)
        let checksum = try fields.read(UInt32.self)
        let compressedSize = try fields.read(UInt32.self)
        let size = try fields.read(UInt32.self)
        let nameLength = Int(try fields.read(UInt16.self))
        let extraLength = Int(try fields.read(UInt16.self))
        let name = try source.bytes(at: offset + Int64(ZipFormat.localHeaderBytes), count: nameLength)
        guard name.elementsEqual(record.name), method == record.entry.method.rawValue,
            (flags ^ record.flags) & (ZipFormat.encrypted | ZipFormat.hasDescriptor | ZipFormat.isUTF8) == 0
        else { throw .malformed("a local header contradicts the directory") }
        if flags & ZipFormat.hasDescriptor == 0 {
            let isSame =
                checksum == record.entry.crc32
                && (size == ZipFormat.in64.size || Int64(size) == record.entry.size)
                && (compressedSize == ZipFormat.in64.size || Int64(compressedSize) == record.entry.compressedSize)
            guard isSame else { throw .malformed("a local header contradicts the directory") }
        }
        return offset + Int64(ZipFormat.localHeaderBytes + nameLength + extraLength)
    }
}
