import Basics
import MCAP

/// Properties of the reader of MCAP recordings.
enum MCAPProperties {
    /// A recording with statistics and a topic, one with only a chunk index, and one for each rule that rejects recordings.
    static let seeds: [[UInt8]] = {
        let channel = record(4, number(1, 2) + number(0, 2) + text("/camera/front") + text("cdr") + number(0, 4))
        let statistics = record(
            11,
            number(3, 8) + number(0, 2) + number(1, 4) + number(0, 4) + number(0, 4) + number(1, 4)
                + number(1_000_000_000, 8) + number(2_000_000_000, 8) + number(0, 4))
        let chunk = record(8, number(1000, 8) + number(2000, 8) + number(8, 8) + number(0, 8))
        return [
            file(channel + statistics), file(chunk + channel), file([]), file(record(99, [1, 2, 3])),
            file(channel, summaryStart: 0), file(channel, summaryStart: 1 << 60), file(channel, summaryStart: 9),
            file(record(4, number(1, 4) + number(1 << 31, 4))), file([4] + number(1 << 62, 8)), magic, [],
            magic + magic,
            file(record(8, number(2000, 8) + number(1000, 8))),
        ]
    }()

    /// Checks that a summary is within its limits and in order.
    static func check(_ input: [UInt8]) {
        do throws(MCAPError) {
            let summary = try MCAPSummary(MCAPBytes(input))
            precondition(summary.topics.count <= MCAPLimits.topics, "a summary has too many topics")
            precondition(
                summary.topics.allSatisfy { (1...MCAPLimits.topicBytes).contains($0.utf8.count) }, "a topic is too long"
            )
            precondition(summary.topics == summary.topics.sorted(), "the topics are not sorted")
            precondition(Set(summary.topics).count == summary.topics.count, "a topic is repeated")
            precondition((summary.recordedFrom == nil) == (summary.recordedTo == nil), "a time range has one end")
            if let from = summary.recordedFrom, let to = summary.recordedTo {
                precondition(from <= to, "a recording ends before it begins")
                precondition(from.microseconds >= 0, "a recording is before 1970")
            }
        } catch {
            precondition(!error.description.isEmpty, "an error says nothing")
        }
    }

    private static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

    private static func number(_ value: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func text(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count), 4) + Array(text.utf8) }

    private static func record(_ opcode: UInt8, _ content: [UInt8]) -> [UInt8] {
        [opcode] + number(UInt64(content.count), 8) + content
    }

    private static func file(_ summary: [UInt8], summaryStart: UInt64 = 8) -> [UInt8] {
        magic + summary + record(2, number(summaryStart, 8) + number(0, 8) + number(0, 4)) + magic
    }
}
