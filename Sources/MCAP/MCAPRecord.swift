import Basics

/// The place of a record in a recording (https://mcap.dev/spec, section "Records").
struct MCAPRecord {
    enum Opcode {
        static let footer: UInt8 = 0x02
        static let channel: UInt8 = 0x04
        static let message: UInt8 = 0x05
        static let chunk: UInt8 = 0x06
        static let chunkIndex: UInt8 = 0x08
        static let statistics: UInt8 = 0x0B
        static let summaryOffset: UInt8 = 0x0E
    }

    /// The length of an opcode and of the length of a content.
    static let headBytes = 9
    /// The number of bytes at the beginning of a content that suffices for all fields which are read.
    static let longestPrefix = 512

    let opcode: UInt8
    /// The place of the content, which ends with its section if the record is cut short.
    let content: Range<Int64>
    let isWhole: Bool
}

extension MCAPWindow {
    /// Reads the head of the record at an offset.
    ///
    /// - Parameter end: the end of the section.
    /// - Returns: `nil` if not even the head is whole.
    mutating func record(at offset: Int64, before end: Int64) throws(MCAPError) -> MCAPRecord? {
        guard end - offset >= Int64(MCAPRecord.headBytes) else { return nil }
        let head = try bytes(at: offset, count: MCAPRecord.headBytes)
        var fields = MCAPFields(head.dropFirst())
        let length = try fields.number(UInt64.self)
        let start = offset + Int64(MCAPRecord.headBytes)
        let rest = end - start
        return MCAPRecord(
            opcode: head[head.startIndex], content: start..<start + Int64(min(length, UInt64(rest))),
            isWhole: length <= UInt64(rest))
    }

    /// Returns the fields at the beginning of a record's content.
    mutating func fields(of record: MCAPRecord) throws(MCAPError) -> MCAPFields {
        let count = min(record.content.upperBound - record.content.lowerBound, Int64(MCAPRecord.longestPrefix))
        return MCAPFields(try bytes(at: record.content.lowerBound, count: Int(count)))
    }
}

/// The fields of a record, in their order (https://mcap.dev/spec, section "Serialization"): little-endian numbers, texts and maps
/// with their length in bytes.
struct MCAPFields {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The number of bytes that were read or skipped.
    var bytesTaken: Int { position - bytes.startIndex }

    mutating func skip(_ count: Int) throws(MCAPError) {
        _ = try take(count)
    }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self
    ) throws(MCAPError) -> Number {
        let field = try take(MemoryLayout<Number>.size)
        return field.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    mutating func take(_ count: Int) throws(MCAPError) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw .malformed("a field is longer than its record") }
        defer { position += count }
        return bytes[position..<position + count]
    }
}

/// A batch of records (https://mcap.dev/spec, section "Chunk").
struct MCAPChunk {
    /// The times of the first and the last message in nanoseconds.
    let first: UInt64
    let last: UInt64
    /// The name of the compression; empty if the records are not compressed.
    let compression: String
    /// The place of the records, which ends with the chunk if it is cut short.
    let records: Range<Int64>

    /// - Returns: `nil` if the chunk is cut short before its records.
    init?(_ record: MCAPRecord, _ fields: MCAPFields) throws(MCAPError) {
        do throws(MCAPError) {
            var fields = fields
            (first, last) = (try fields.number(), try fields.number())
            // The size and the checksum of the uncompressed records.
            try fields.skip(8 + 4)
            let name = Int(try fields.number(UInt32.self))
            compression = String(decoding: try fields.take(name), as: UTF8.self)
            let length = try fields.number(UInt64.self)
            let start = record.content.lowerBound + Int64(fields.bytesTaken)
            let rest = UInt64(record.content.upperBound - start)
            guard length <= rest || !record.isWhole else { throw .malformed("a field is longer than its record") }
            records = start..<start + Int64(min(length, rest))
        } catch {
            if case .malformed = error, !record.isWhole { return nil }
            throw error
        }
    }
}
