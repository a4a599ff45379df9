import Basics
import FileTesting
import MCAP

/// Properties of the reader of MCAP recordings.
enum MCAPProperties {
    /// Recordings with and without each part that is read, and one for each rule that rejects recordings.
    static let seeds: [[UInt8]] = {
        let channel = MCAPFile.channel("/camera/front")
        let statistics = MCAPFile.statistics(messages: 3, 1_000_000_000, 2_000_000_000)
        let indexes =
            MCAPFile.chunkIndex(1000, 2000, channels: 1..<3) + MCAPFile.chunkIndex(.max, 0) + MCAPFile.chunkIndex(0, 0)
        let records = MCAPFile.schema() + channel + MCAPFile.message(at: 5000)
        let chunks =
            MCAPFile.chunk(records, 5000, 5000) + MCAPFile.chunk([1, 2], 6000, 7000, compression: "zstd")
        let closed = [
            MCAPFile.file(records, []), MCAPFile.file(chunks, []), MCAPFile.file(chunks, [statistics, indexes]),
            MCAPFile.file([], [channel, statistics], hasOffsets: true),
            MCAPFile.file([], [channel, indexes, MCAPFile.attachmentIndex()], hasOffsets: true),
        ]
        let open = MCAPFile.magic + MCAPFile.header + chunks
        let rejected: [[UInt8]] = [
            [], MCAPFile.magic + MCAPFile.magic, MCAPFile.magic + channel + MCAPFile.footer(summary: 1 << 60),
            MCAPFile.magic + channel + MCAPFile.footer(summary: 9),
            MCAPFile.file([], [MCAPFile.record(4, MCAPFile.number(1, 4) + MCAPFile.number(1 << 31, 4))]),
            MCAPFile.file([], [[4] + MCAPFile.number(1 << 62, 8)]),
        ]
        return closed + [open, Array(open.dropLast(40)), open + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]] + rejected
    }()

    /// Checks that what is read of a recording is within its limits and in order, whichever way its parts are found.
    static func check(_ input: [UInt8]) {
        check(input, MCAPLimits())
        // The groups of a summary are found by their offsets, and the limits are reached.
        check(input, MCAPLimits(summaryBytes: 0, readBytes: 1 << 20, bytesBeforeSkippingChunks: 1 << 20))
        check(input, MCAPLimits(summaryBytes: 1 << 20, readBytes: 200, bytesBeforeSkippingChunks: 100))
    }

    private static func check(_ input: [UInt8], _ limits: MCAPLimits) {
        do throws(MCAPError) {
            let summary = try MCAPSummary(MCAPBytes(input), limits: limits)
            precondition(summary.topics.count <= MCAPLimits.topics, "a summary has too many topics")
            precondition(
                summary.topics.allSatisfy { (1...MCAPLimits.topicBytes).contains($0.utf8.count) }, "a topic is too long"
            )
            precondition(summary.topics == summary.topics.sorted(), "the topics are not sorted")
            precondition(Set(summary.topics).count == summary.topics.count, "a topic is repeated")
            precondition(summary.recordedTo == nil || summary.recordedFrom != nil, "a time range has no beginning")
            if let from = summary.recordedFrom {
                precondition(from.microseconds >= 0, "a recording is before 1970")
                if let to = summary.recordedTo { precondition(from <= to, "a recording ends before it begins") }
            }
            precondition(summary.shortfall?.description.isEmpty != true, "a shortfall says nothing")
        } catch {
            precondition(!error.description.isEmpty, "an error says nothing")
        }
    }
}
