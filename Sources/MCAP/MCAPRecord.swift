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
