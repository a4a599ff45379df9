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
