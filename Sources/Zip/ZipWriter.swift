package import Basics
import Checksums

/// Writes an archive as a stream: each call returns the next bytes of the archive. Each entry needs about a hundred bytes of memory
/// and its name, independent of its contents.
///
/// The size and the checksum of an entry precede its contents if they are known, which programs need that read an archive from a
/// pipe; otherwise they follow in a data descriptor. Entries that may exceed 4 GiB, and archives that do, use zip64 (APPNOTE
/// 6.3.10). Without the bytes of ``finish()`` an archive has no end record, so that no program takes it for a complete one.
package struct ZipWriter {
    private struct Current {
        let name: String
        let method: ZipEntry.Method
        let time: UnixTime
        let isZip64: Bool
        let offset: UInt64
        let deflate: DeflateWriter?
        /// The contents, if they are known in advance.
        var known: KnownContents?
        var checksum = CRC32()
        var size: UInt64 = 0
        var compressedSize: UInt64 = 0

        var crc32: UInt32 { known?.crc32 ?? checksum.value }

        mutating func count(_ piece: UnsafeRawBufferPointer) {
            if known == nil { checksum.update(piece) }
            size += UInt64(piece.count)
        }

        mutating func compress(_ piece: UnsafeRawBufferPointer, isLast: Bool) -> [UInt8] {
            guard let deflate else { preconditionFailure("only a deflated entry is compressed") }
            var bytes: [UInt8] = []
            deflate.write(piece, isLast: isLast, to: &bytes)
            compressedSize += UInt64(bytes.count)
            return bytes
        }
    }

    /// The contents of a stored entry that are known before the entry begins.
    package struct KnownContents: Sendable {
        /// The length in bytes.
        let size: Int64
        /// The checksum of all bytes.
        let crc32: UInt32

        package init(size: Int64, crc32: UInt32) {
            self.size = size
            self.crc32 = crc32
        }
    }

    private var position: UInt64 = 0
    private var current: Current?
    private var names: Set<String> = []
    private var directory: [UInt8] = []

    package init() {}

    /// The number of bytes of the archive up to here.
    package var length: Int64 { Int64(position) }

    /// Begins an entry.
    ///
    /// - Parameters:
    ///   - name: see ``ZipEntry/isValid(name:)``; each name only once.
    ///   - time: the time of the last change; the format stores years 1980 to 2107, in seconds.
    ///   - method: whether the contents are compressed.
    ///   - largestSize: an upper limit of the contents' length in bytes; `nil` = unknown.
    /// - Throws: ``ZipError/invalidName(_:)`` or ``ZipError/duplicateName(_:)``.
    package mutating func begin(
        _ name: String, time: UnixTime, method: ZipEntry.Method = .stored, largestSize: Int64? = nil
    ) throws(ZipError) -> [UInt8] {
        // Deflate enlarges incompressible contents slightly.
        let isZip64 = (largestSize ?? .max) >= Int64(UInt32.max) - (1 << 24)
        return try begin(
            Current(
                name: name, method: method, time: time, isZip64: isZip64, offset: position,
                deflate: method == .deflated ? DeflateWriter() : nil))
    }

    /// Begins a stored entry whose contents are known.
    ///
    /// - Parameters:
    ///   - name: see ``ZipEntry/isValid(name:)``; each name only once.
    ///   - time: the time of the last change; the format stores years 1980 to 2107, in seconds.
    /// - Throws: ``ZipError/invalidName(_:)`` or ``ZipError/duplicateName(_:)``.
    package mutating func begin(
        _ name: String, time: UnixTime, _ contents: KnownContents
    ) throws(ZipError) -> [UInt8] {
        try begin(
            Current(
                name: name, method: .stored, time: time, isZip64: contents.size >= Int64(UInt32.max), offset: position,
                deflate: nil, known: contents))
    }

    private mutating func begin(_ entry: Current) throws(ZipError) -> [UInt8] {
        precondition(current == nil, "the entry before is not ended")
        guard ZipEntry.isValid(name: entry.name) else { throw .invalidName(entry.name) }
        guard names.insert(entry.name).inserted else { throw .duplicateName(entry.name) }
        current = entry
        var bytes: [UInt8] = []
        bytes.append(littleEndian: ZipFormat.localHeader)
        // Unknown sizes are in the descriptor; with zip64 its fields have eight bytes.
        let size = UInt64(entry.known?.size ?? 0)
        let short = entry.isZip64 ? ZipFormat.in64.size : UInt32(size)
        Self.appendCommonFields(entry, (entry.known?.crc32 ?? 0, short, short), isZip64: entry.isZip64, to: &bytes)
        Self.appendNameAndExtra(entry, zip64: entry.isZip64 ? [size, size] : [], to: &bytes, comment: false)
        position += UInt64(bytes.count)
        return bytes
    }

    /// Counts a piece of a stored entry, which the caller sends itself, unchanged.
    package mutating func pass(_ piece: UnsafeRawBufferPointer) {
        var entry = openEntry()
        precondition(entry.method == .stored, "only a stored entry's contents follow as they are")
        entry.count(piece)
        entry.compressedSize += UInt64(piece.count)
        position += UInt64(piece.count)
        current = entry
    }

    /// Counts contents of a stored entry without their bytes. Unless they are known, the checksum is then wrong, and only ``length``
    /// is useful.
    package mutating func skip(_ count: Int64) {
        var entry = openEntry()
        precondition(entry.method == .stored, "the length of a deflated entry depends on its bytes")
        entry.size += UInt64(count)
        entry.compressedSize += UInt64(count)
        position += UInt64(count)
        current = entry
    }

    /// Compresses a piece of a deflated entry.
    package mutating func compress(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
        var entry = openEntry()
        entry.count(piece)
        let bytes = entry.compress(piece, isLast: false)
        position += UInt64(bytes.count)
        current = entry
        return bytes
    }

    /// Ends the entry, and returns its descriptor, which is empty if the contents were known.
    package mutating func end() -> [UInt8] {
        var entry = openEntry()
        if let known = entry.known {
            precondition(entry.size == known.size, "the entry has another size than announced")
            appendToDirectory(entry)
            current = nil
            return []
        }
        var bytes =
            entry.deflate == nil ? [] : entry.compress(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        precondition(
            entry.isZip64 || max(entry.size, entry.compressedSize) < UInt64(UInt32.max), "the entry exceeds its bound")
        bytes.append(littleEndian: ZipFormat.descriptor)
        bytes.append(littleEndian: entry.crc32)
        for size in [entry.compressedSize, entry.size] {
            if entry.isZip64 { bytes.append(littleEndian: size) } else { bytes.append(littleEndian: UInt32(size)) }
        }
        position += UInt64(bytes.count)
        appendToDirectory(entry)
        current = nil
        return bytes
    }

    /// Ends the archive, and returns its directory and end records.
    package mutating func finish() -> [UInt8] {
        precondition(current == nil, "the last entry is not ended")
        var bytes = directory
        let (count, size) = (UInt64(names.count), UInt64(directory.count))
        let isZip64 = count >= UInt64(UInt16.max) || max(size, position) >= UInt64(UInt32.max)
        if isZip64 {
            bytes.append(littleEndian: ZipFormat.zip64EndRecord)
            bytes.append(littleEndian: UInt64(ZipFormat.zip64EndRecordBytes - 12))
            bytes.append(littleEndian: ZipFormat.version.unix | ZipFormat.version.zip64)
            bytes.append(littleEndian: ZipFormat.version.zip64)
            for disk in [UInt32(0), 0] { bytes.append(littleEndian: disk) }
            for value in [count, count, size, position] { bytes.append(littleEndian: value) }
            bytes.append(littleEndian: ZipFormat.zip64EndLocator)
            bytes.append(littleEndian: UInt32(0))
            bytes.append(littleEndian: position + size)
            bytes.append(littleEndian: UInt32(1))
        }
        bytes.append(littleEndian: ZipFormat.endRecord)
        for disk in [UInt16(0), 0] { bytes.append(littleEndian: disk) }
        for _ in 0..<2 { bytes.append(littleEndian: UInt16(clamping: count)) }
        for value in [size, position] { bytes.append(littleEndian: UInt32(clamping: value)) }
        bytes.append(littleEndian: UInt16(0))
        position += UInt64(bytes.count)
        return bytes
    }

    private func openEntry() -> Current {
        guard let current else { preconditionFailure("no entry is begun") }
        return current
    }

    private mutating func appendToDirectory(_ entry: Current) {
        var zip64: [UInt64] = []
        func short(_ value: UInt64) -> UInt32 {
            guard value >= UInt64(UInt32.max) else { return UInt32(value) }
            zip64.append(value)
            return ZipFormat.in64.size
        }
        // The order of the values in the extra field: size, compressed size, offset.
        let size = short(entry.size)
        let compressedSize = short(entry.compressedSize)
        let offset = short(entry.offset)
        directory.append(littleEndian: ZipFormat.directoryHeader)
        directory.append(littleEndian: ZipFormat.version.unix | ZipFormat.version.zip64)
        Self.appendCommonFields(
            entry, (entry.crc32, compressedSize, size), isZip64: entry.isZip64 || !zip64.isEmpty, to: &directory)
        Self.appendNameAndExtra(entry, zip64: zip64, to: &directory, comment: true, offset: offset)
    }

    /// Appends the common fields of a local header and the directory, from the needed version to the sizes.
    private static func appendCommonFields(
        _ entry: Current, _ sizes: (checksum: UInt32, compressed: UInt32, size: UInt32), isZip64: Bool,
        to bytes: inout [UInt8]
    ) {
        bytes.append(littleEndian: isZip64 ? ZipFormat.version.zip64 : ZipFormat.version.plain)
        bytes.append(littleEndian: (entry.known == nil ? ZipFormat.hasDescriptor : 0) | ZipFormat.isUTF8)
        bytes.append(littleEndian: entry.method.rawValue)
        let (date, time) = dosTime(entry.time)
        for value in [time, date] { bytes.append(littleEndian: value) }
        for value in [sizes.checksum, sizes.compressed, sizes.size] { bytes.append(littleEndian: value) }
    }

    /// Appends the lengths, in the directory also the attributes and the offset, then the name and the extra fields.
    private static func appendNameAndExtra(
        _ entry: Current, zip64: [UInt64], to bytes: inout [UInt8], comment: Bool, offset: UInt32 = 0
    ) {
        var extra: [UInt8] = []
        if !zip64.isEmpty {
            extra.append(littleEndian: ZipFormat.zip64Extra)
            extra.append(littleEndian: UInt16(zip64.count * 8))
            for value in zip64 { extra.append(littleEndian: value) }
        }
        if let seconds = Int32(exactly: entry.time.seconds) {
            extra.append(littleEndian: ZipFormat.timestampExtra)
            extra.append(littleEndian: UInt16(5))
            // Only the time of the last change.
            extra.append(1)
            extra.append(littleEndian: UInt32(bitPattern: seconds))
        }
        let name = Array(entry.name.utf8)
        bytes.append(littleEndian: UInt16(name.count))
        bytes.append(littleEndian: UInt16(extra.count))
        if comment {
            for value in [UInt16(0), 0, 0] { bytes.append(littleEndian: value) }
            // A regular file that everybody may read.
            bytes.append(littleEndian: UInt32(0o100644) << 16)
            bytes.append(littleEndian: offset)
        }
        bytes += name + extra
    }

    /// Returns the date and the time in MS-DOS format, in UTC, limited to the format's range.
    private static func dosTime(_ time: UnixTime) -> (date: UInt16, time: UInt16) {
        let civil = CivilTime(time)
        guard civil.year >= 1980 else { return (1 << 5 | 1, 0) }
        guard civil.year <= 2107 else { return (127 << 9 | 12 << 5 | 31, 23 << 11 | 59 << 5 | 29) }
        return (
            UInt16((civil.year - 1980) << 9 | civil.month << 5 | civil.day),
            UInt16(civil.hour << 11 | civil.minute << 5 | civil.second / 2)
        )
    }
}
