import Basics
import FileTesting
import TestSupport
import Testing

@testable import MCAP

/// Recordings of all shapes that writers can be configured to write.
@Suite(.timeLimited) struct RecordingShapeTests {
    /// The compressions of the chunks with the messages; `nil` = the messages are outside of chunks.
    static let compressions: [String?] = [nil, "", "lz4", "zstd"]

    /// The parts of a recording that a writer can be told to omit.
    struct Options: Hashable {
        var statistics = true
        var offsets = true
        var channels = true
        var chunkIndexes = true
        var otherRecords = true

        static let all: [Options] = (0..<32).map { bits in
            Options(
                statistics: bits & 1 > 0, offsets: bits & 2 > 0, channels: bits & 4 > 0, chunkIndexes: bits & 8 > 0,
                otherRecords: bits & 16 > 0)
        }
    }

    static let topics = ["/camera", "/imu"]

    static func recording(_ compression: String?, _ options: Options, hasMessages: Bool) -> [UInt8] {
        let channels = topics.enumerated().flatMap { MCAPFile.channel($1, UInt64($0) + 1) }
        let definitions = MCAPFile.schema() + channels
        let batches: [[UInt64]] = hasMessages ? [[5000, 4000], [], [6000, 9000]] : [[], []]
        var (data, indexes) = ([UInt8](), [UInt8]())
        for (number, times) in batches.enumerated() {
            let messages = times.enumerated().flatMap { MCAPFile.message(at: $1, UInt64($0) + 1) }
            let records = (number == 0 ? definitions : []) + messages
            guard let compression else {
                data += records
                continue
            }
            let (first, last) = (times.min() ?? 0, times.max() ?? 0)
            data += MCAPFile.chunk(records, first, last, compression: compression)
            indexes += MCAPFile.chunkIndex(first, last, channels: 0..<UInt64(times.count))
        }
        let statistics = MCAPFile.statistics(
            messages: hasMessages ? 4 : 0, channels: 2, hasMessages ? 4000 : 0, hasMessages ? 9000 : 0)
        return MCAPFile.file(
            data,
            [
                options.channels ? MCAPFile.schema() : [], options.channels ? channels : [],
                options.statistics ? statistics : [], options.chunkIndexes ? indexes : [],
                options.otherRecords ? MCAPFile.attachmentIndex() + MCAPFile.record(0x7F, [1]) : [],
            ], hasOffsets: options.offsets)
    }

    @Test(arguments: compressions, [true, false])
    func timesAndTopicsOfEveryShapeAreFound(compression: String?, hasMessages: Bool) throws {
        for options in Options.all {
            // The groups of a summary are found by reading all of it, and by their offsets.
            for summaryBytes in [0, 1 << 20] as [Int64] {
                var limits = MCAPLimits()
                limits.summaryBytes = summaryBytes
                let recording = Self.recording(compression, options, hasMessages: hasMessages)
                let found = try MCAPSummary(MCAPBytes(recording), limits: limits)
                #expect(found.recordedFrom == (hasMessages ? UnixTime(microseconds: 4) : nil), "\(options)")
                #expect(found.recordedTo == (hasMessages ? UnixTime(microseconds: 9) : nil), "\(options)")
                // Compressed chunks are not read.
                let isHidden = !options.channels && compression?.isEmpty == false
                #expect(found.topics == (isHidden ? [] : Self.topics), "\(options)")
                if isHidden {
                    #expect(found.shortfall == .compressed(compression ?? ""))
                } else if hasMessages {
                    #expect(found.shortfall == nil, "\(options)")
                }
            }
        }
    }
}
