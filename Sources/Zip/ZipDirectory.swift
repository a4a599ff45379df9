/// The end records and the central directory of an archive.
struct ZipDirectory {
    struct Record {
        let entry: ZipEntry
        let flags: UInt16
        /// The name's bytes, as the archive has them.
        let name: ArraySlice<UInt8>
        let isDirectory: Bool
    }

    /// The numbers of an end record.
    private struct End: Equatable {
        var entries: UInt64
        var size: UInt64
        var offset: UInt64
    }

    private static let longestComment = Int64(UInt16.max)

    /// The offset of the directory in the archive.
    let offset: Int64
    let records: [Record]

    init(_ source: some ZipSource, limits: ZipLimits) throws(ZipError) {
        let (end, endOffset) = try Self.end(of: source)
        guard end.entries <= UInt64(limits.entries) else {
            throw .limitExceeded("more than \(limits.entries) entries")
        }
        guard end.size <= UInt64(limits.directoryBytes) else {
            throw .limitExceeded("a directory of more than \(limits.directoryBytes) bytes")
        }
        guard end.offset <= UInt64(endOffset), end.size == UInt64(endOffset) - end.offset else {
            throw .malformed("the directory does not end at the end record")
        }
        offset = Int64(end.offset)
        let bytes = try source.bytes(at: offset, count: Int(end.size))
        var fields = LittleEndianReader(bytes[...])
        var records: [Record] = []
        var names: Set<String> = []
        var total: Int64 = 0
        while records.count < Int(end.entries) {
            let record = try Self.record(&fields, limits)
            guard names.insert(record.entry.name).inserted else { throw .duplicateName(record.entry.name) }
            let (sum, overflow) = total.addingReportingOverflow(record.entry.size)
            guard !overflow, sum <= limits.totalBytes else {
                throw .limitExceeded("more than \(limits.totalBytes) uncompressed bytes")
            }
            total = sum
            records.append(record)
        }
        guard fields.rest.isEmpty else { throw .malformed("the directory has more records than the end record counts") }
        self.records = records
    }

    // MARK: End records

    /// - Returns: the numbers, and the offset at which the directory ends.
    private static func end(of source: some ZipSource) throws(ZipError) -> (End, Int64) {
        let length = min(source.size, Int64(ZipFormat.endRecordBytes) + longestComment)
        let tail = try source.bytes(at: source.size - length, count: Int(length))
        let starts = tail.indices.dropLast(ZipFormat.endRecordBytes - 1).filter { start in
            tail[start...].starts(with: [0x50, 0x4B, 0x05, 0x06])
                && Int(tail[start + 20]) | Int(tail[start + 21]) << 8 == tail.count - start - ZipFormat.endRecordBytes
        }
        guard let start = starts.first else { throw .noEndRecord }
        // A second one would be within the comment: programs differ in which of them they believe.
        guard starts.count == 1 else { throw .malformed("there are two end records") }
        let endOffset = source.size - Int64(tail.count - start)
        var fields = LittleEndianReader(tail[(start + 4)...])
        let disks = [try fields.read(UInt16.self), try fields.read(UInt16.self)]
        let (entriesHere, entries) = (try fields.read(UInt16.self), try fields.read(UInt16.self))
        let end = End(
            entries: UInt64(entries), size: UInt64(try fields.read(UInt32.self)),
            offset: UInt64(try fields.read(UInt32.self)))
        if let (large, offset) = try zip64End(of: source, before: endOffset) {
            let isSame =
                (entries == ZipFormat.in64.count || end.entries == large.entries)
                && (end.size == UInt64(ZipFormat.in64.size) || end.size == large.size)
                && (end.offset == UInt64(ZipFormat.in64.size) || end.offset == large.offset)
            guard isSame else { throw .malformed("the two end records contradict each other") }
            return (large, offset)
        }
        guard disks == [0, 0], entriesHere == entries else { throw .unsupported("an archive in several files") }
        return (end, endOffset)
    }

    private static func zip64End(of source: some ZipSource, before endOffset: Int64) throws(ZipError) -> (End, Int64)? {
        let locatorOffset = endOffset - Int64(ZipFormat.zip64EndLocatorBytes)
        guard locatorOffset >= 0 else { return nil }
        let locator = try source.bytes(at: locatorOffset, count: ZipFormat.zip64EndLocatorBytes)
        var fields = LittleEndianReader(locator[...])
        guard try fields.read() == ZipFormat.zip64EndLocator else { return nil }
        let disk = try fields.read(UInt32.self)
        let offset = try fields.read(UInt64.self)
        let disks = try fields.read(UInt32.self)
        guard disk == 0, disks <= 1 else { throw .unsupported("an archive in several files") }
        guard locatorOffset >= ZipFormat.zip64EndRecordBytes,
            offset == UInt64(locatorOffset - Int64(ZipFormat.zip64EndRecordBytes))
        else { throw .malformed("the zip64 end record is not before its locator") }
        let bytes = try source.bytes(at: Int64(offset), count: ZipFormat.zip64EndRecordBytes)
        fields = LittleEndianReader(bytes[...])
        guard try fields.read() == ZipFormat.zip64EndRecord,
            try fields.read() == UInt64(ZipFormat.zip64EndRecordBytes - 12)
        else { throw .malformed("the zip64 end record is missing") }
        _ = try fields.read(UInt32.self)
        let numbers = [try fields.read(UInt32.self), try fields.read(UInt32.self)]
        let (entriesHere, entries) = (try fields.read(UInt64.self), try fields.read(UInt64.self))
        guard numbers == [0, 0], entriesHere == entries else { throw .unsupported("an archive in several files") }
        return (End(entries: entries, size: try fields.read(), offset: try fields.read()), Int64(offset))
    }

    // MARK: Records

    private static func record(_ fields: inout LittleEndianReader, _ limits: ZipLimits) throws(ZipError) -> Record {
        guard try fields.read() == ZipFormat.directoryHeader else {
            throw .malformed("a record of the directory is missing")
        }
        _ = try fields.read(UInt32.self)
        let flags = try fields.read(UInt16.self)
        let methodNumber = try fields.read(UInt16.self)
        _ = try fields.read(UInt32.self)
        let checksum = try fields.read(UInt32.self)
        let (compressedSize, size) = (try fields.read(UInt32.self), try fields.read(UInt32.self))
        let nameLength = Int(try fields.read(UInt16.self))
        let extraLength = Int(try fields.read(UInt16.self))
        let commentLength = Int(try fields.read(UInt16.self))
        let disk = try fields.read(UInt16.self)
        _ = try fields.read(UInt16.self)
        _ = try fields.read(UInt32.self)
        let offset = try fields.read(UInt32.self)
        let name = try fields.take(nameLength)
        let extra = try fields.take(extraLength)
        _ = try fields.take(commentLength)

        let hidden = ZipFormat.encrypted | ZipFormat.stronglyEncrypted | ZipFormat.maskedDirectory
        guard flags & hidden == 0 else { throw .unsupported("encryption") }
        guard flags & ZipFormat.patched == 0 else { throw .unsupported("patched data") }
        guard let method = ZipEntry.Method(rawValue: methodNumber) else {
            throw .unsupported("compression method \(methodNumber)")
        }
        guard disk == 0 || disk == ZipFormat.in64.count else { throw .unsupported("an archive in several files") }
        let large = try zip64Values(
            extra,
            of: [(size, ZipFormat.in64.size), (compressedSize, ZipFormat.in64.size), (offset, ZipFormat.in64.size)])
        let (text, isDirectory) = try checked(name)
        let entry = ZipEntry(
            name: text, method: method, compressedSize: large[1], size: large[0], crc32: checksum, offset: large[2])
        try check(entry, isDirectory: isDirectory, limits)
        return Record(entry: entry, flags: flags, name: name, isDirectory: isDirectory)
    }

    private static func checked(_ bytes: ArraySlice<UInt8>) throws(ZipError) -> (name: String, isDirectory: Bool) {
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw .invalidName(String(decoding: bytes, as: UTF8.self))
        }
        let isDirectory = name.hasSuffix("/")
        let path = isDirectory ? String(name.dropLast()) : name
        guard ZipEntry.isValid(name: path) else { throw .invalidName(name) }
        return (path, isDirectory)
    }

    private static func check(_ entry: ZipEntry, isDirectory: Bool, _ limits: ZipLimits) throws(ZipError) {
        guard !isDirectory || entry.size == 0 else { throw .malformed("a directory has contents") }
        switch entry.method {
        case .stored:
            guard entry.size == entry.compressedSize else { throw .malformed("a stored entry has two sizes") }
        case .deflated:
            let isInflated =
                entry.size > ZipLimits.uncheckedRatioBytes && entry.size / limits.ratio > entry.compressedSize
            guard !isInflated else {
                throw .limitExceeded("an entry is compressed to less than 1/\(limits.ratio) of its size")
            }
        }
    }

    /// Replaces fields whose number is in the zip64 extra field, which has only these, in this order (section 4.5.3).
    private static func zip64Values(
        _ extra: ArraySlice<UInt8>, of fields: [(value: UInt32, marker: UInt32)]
    ) throws(ZipError) -> [Int64] {
        var reader = LittleEndianReader(extra)
        var zip64: LittleEndianReader?
        // Up to three bytes behind the last field are padding that some programs write.
        while reader.rest.count >= 4 {
            let (identifier, length) = (try reader.read(UInt16.self), try reader.read(UInt16.self))
            let field = try reader.take(Int(length))
            guard identifier == ZipFormat.zip64Extra else { continue }
            guard zip64 == nil else { throw .malformed("an entry has two zip64 fields") }
            zip64 = LittleEndianReader(field)
        }
        var values: [Int64] = []
        for (value, marker) in fields {
            guard value == marker, var field = zip64 else {
                values.append(Int64(value))
                continue
            }
            guard let number = Int64(exactly: try field.read(UInt64.self)) else {
                throw .malformed("a zip64 number is too large")
            }
            zip64 = field
            values.append(number)
        }
        return values
    }
}
