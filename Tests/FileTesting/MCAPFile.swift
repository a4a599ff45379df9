/// Writes recordings record by record, as the programs in the field write them and as a test needs them (https://mcap.dev/spec).
package enum MCAPFile {
    package static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

    package static func number(_ value: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    package static func text(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count), 4) + Array(text.utf8) }

    package static func record(_ opcode: UInt8, _ content: [UInt8]) -> [UInt8] {
        [opcode] + number(UInt64(content.count), 8) + content
    }

    package static let header = record(1, text("") + text("tests"))

    package static func schema() -> [UInt8] {
        record(3, number(1, 2) + text("s") + text("ros2msg") + number(1, 4) + [0x78])
    }

    package static func channel(_ topic: String, _ id: UInt64 = 1) -> [UInt8] {
        record(4, number(id, 2) + number(1, 2) + text(topic) + text("cdr") + number(0, 4))
    }

    package static func message(at time: UInt64, _ channel: UInt64 = 1, data: [UInt8] = [1, 2, 3]) -> [UInt8] {
        record(5, number(channel, 2) + number(0, 4) + number(time, 8) + number(time, 8) + data)
    }

    package static func chunk(_ records: [UInt8], _ from: UInt64, _ to: UInt64, compression: String = "") -> [UInt8] {
        record(
            6,
            number(from, 8) + number(to, 8) + number(UInt64(records.count), 8) + number(0, 4) + text(compression)
                + number(UInt64(records.count), 8) + records)
    }

    /// - Parameter channels: those with messages in the chunk, as its message indexes name them.
    package static func chunkIndex(_ from: UInt64, _ to: UInt64, channels: Range<UInt64> = 0..<0) -> [UInt8] {
        let offsets = channels.flatMap { number($0, 2) + number(8, 8) }
        return record(
            8,
            number(from, 8) + number(to, 8) + number(8, 8) + number(0, 8) + number(UInt64(offsets.count), 4) + offsets
                + number(0, 8) + text("") + number(0, 8) + number(0, 8))
    }

    package static func statistics(
        messages: UInt64, channels: UInt64 = 1, _ from: UInt64, _ to: UInt64
    ) -> [UInt8] {
        record(
            11,
            number(messages, 8) + number(1, 2) + number(channels, 4) + [UInt8](repeating: 0, count: 12)
                + number(from, 8) + number(to, 8) + number(0, 4))
    }

    /// A record that readers skip.
    package static func attachmentIndex() -> [UInt8] {
        record(10, [UInt8](repeating: 0, count: 40) + text("a") + text("b"))
    }

    package static let dataEnd = record(15, number(0, 4))

    package static func footer(summary: UInt64, offsets: UInt64 = 0) -> [UInt8] {
        record(2, number(summary, 8) + number(offsets, 8) + number(0, 4)) + magic
    }

    package static func summaryOffset(_ opcode: UInt8, start: UInt64, length: UInt64) -> [UInt8] {
        record(14, [opcode] + number(start, 8) + number(length, 8))
    }

    /// Returns a closed recording.
    ///
    /// - Parameters:
    ///   - summary: the groups of records of one opcode; empty = no summary.
    ///   - hasOffsets: whether a Summary Offset section follows the summary.
    package static func file(_ data: [UInt8], _ summary: [[UInt8]], hasOffsets: Bool = false) -> [UInt8] {
        var file = magic + header + data + dataEnd
        let start = UInt64(file.count)
        var offsets: [UInt8] = []
        for group in summary where !group.isEmpty {
            offsets += summaryOffset(group[0], start: UInt64(file.count), length: UInt64(group.count))
            file += group
        }
        guard UInt64(file.count) > start else { return file + footer(summary: 0) }
        guard hasOffsets else { return file + footer(summary: start) }
        let offsetStart = UInt64(file.count)
        return file + offsets + footer(summary: start, offsets: offsetStart)
    }
}
