import Basics
import FileTesting
import TestSupport
import Testing

@testable import MCAP

/// Summaries above the size that is read as a whole.
@Suite(.timeLimited) struct LargeSummaryTests {
    /// A recording with gaps of any size, which counts what is read of it.
    private final class SparseFile: MCAPSource {
        let size: Int64
        private(set) var bytesRead = 0
        private let pieces: [(start: Int64, bytes: [UInt8])]

        init(size: Int64, _ pieces: [(start: Int64, bytes: [UInt8])]) {
            self.size = size
            self.pieces = pieces
        }

        func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError) {
            bytesRead += buffer.count
            for index in buffer.indices { buffer[index] = 0 }
            for (start, bytes) in pieces {
                let first = max(start, offset)
                let end = min(start + Int64(bytes.count), offset + Int64(buffer.count))
                for position in first..<max(first, end) {
                    buffer[Int(position - offset)] = bytes[Int(position - start)]
                }
            }
        }
    }

    private static let channel = MCAPFile.channel("/imu")
    private static let statistics = MCAPFile.statistics(messages: 2, 4000, 9000)
    private static let gigabyte: Int64 = 1 << 30

    /// Returns a recording whose summary has a group of a gigabyte of records that are not needed, or are chunk indexes.
    ///
    /// - Parameter groups: the other groups, which come first.
    private static func recording(_ groups: [[UInt8]], indexes: [UInt8], hasOffsets: Bool) -> SparseFile {
        let head = MCAPFile.magic + MCAPFile.header + MCAPFile.dataEnd
        let summary = Int64(head.count)
        var pieces = [(start: Int64(0), bytes: head)]
        var (position, offsets) = (summary, [UInt8]())
        for group in groups {
            pieces.append((position, group))
            offsets += MCAPFile.summaryOffset(group[0], start: UInt64(position), length: UInt64(group.count))
            position += Int64(group.count)
        }
        // The group ends with a record of the rest.
        let rest = gigabyte - Int64(indexes.count) - 9
        pieces.append((position, indexes + [indexes[0]] + MCAPFile.number(UInt64(rest), 8) + indexes.dropFirst(9)))
        offsets += MCAPFile.summaryOffset(indexes[0], start: UInt64(position), length: UInt64(gigabyte))
        position += gigabyte
        let footer = MCAPFile.footer(summary: UInt64(summary), offsets: hasOffsets ? UInt64(position) : 0)
        let end = hasOffsets ? offsets + footer : footer
        pieces.append((position, end))
        return SparseFile(size: position + Int64(end.count), pieces)
    }

    @Test func groupsThatAreNeededAreReadByTheirOffsets() throws {
        for indexes in [MCAPFile.attachmentIndex(), MCAPFile.chunkIndex(1, .max)] {
            let file = Self.recording([Self.channel, Self.statistics], indexes: indexes, hasOffsets: true)
            let found = try MCAPSummary(file)
            #expect(found.topics == ["/imu"] && found.shortfall == nil)
            #expect(found.recordedFrom == UnixTime(microseconds: 4) && found.recordedTo == UnixTime(microseconds: 9))
            #expect(file.bytesRead < 64 << 10)
        }
    }

    @Test func chunkIndexesGiveTheTimesOfALargeSummaryWithoutStatistics() throws {
        let file = Self.recording([Self.channel], indexes: MCAPFile.chunkIndex(4000, 9000), hasOffsets: true)
        let found = try MCAPSummary(file)
        #expect(found.topics == ["/imu"] && found.shortfall == nil)
        #expect(found.recordedFrom == UnixTime(microseconds: 4) && found.recordedTo == UnixTime(microseconds: 9))
    }

    @Test func largeSummaryWithoutOffsetsIsReadFromItsBeginning() throws {
        let indexes = MCAPFile.attachmentIndex()
        let file = Self.recording([Self.channel, Self.statistics], indexes: indexes, hasOffsets: false)
        let found = try MCAPSummary(file)
        #expect(found.topics == ["/imu"] && found.recordedTo == UnixTime(microseconds: 9))
        #expect(file.bytesRead < 64 << 10)
    }

    @Test func bytesThatAreReadOfASummaryAreLimited() throws {
        var limits = MCAPLimits()
        limits.readBytes = 32 << 10
        let indexes = (1...1000).flatMap { MCAPFile.chunkIndex($0 * 1000, $0 * 1000 + 1) }
        for summary in [[Self.channel, Self.statistics, indexes], [Self.channel, indexes]] {
            let found = try MCAPSummary(MCAPBytes(MCAPFile.file([], summary)), limits: limits)
            #expect(found.topics == ["/imu"])
            #expect(found.shortfall == .limitExceeded("at most 32768 bytes of a recording are read"))
            // The time of the last message is unknown if not all chunk indexes were read.
            let hasStatistics = summary.count == 3
            #expect(found.recordedFrom == UnixTime(microseconds: hasStatistics ? 4 : 1))
            #expect(found.recordedTo == (hasStatistics ? UnixTime(microseconds: 9) : nil))
        }
    }

    @Test func groupOutsideOfTheSummaryIsRejected() {
        var limits = MCAPLimits()
        limits.summaryBytes = 0
        let groups: [(UInt64, UInt64)] = [(0, 1), (8, 1), (1 << 63, 1), (60, .max), (.max, .max)]
        for (start, length) in groups {
            let data = MCAPFile.magic + MCAPFile.header + MCAPFile.dataEnd
            let summary = UInt64(data.count)
            let file =
                data + Self.channel + MCAPFile.summaryOffset(4, start: start, length: length)
                + MCAPFile.footer(summary: summary, offsets: summary + UInt64(Self.channel.count))
            #expect(throws: MCAPError.malformed("a group of records is not within the summary")) {
                try MCAPSummary(MCAPBytes(file), limits: limits)
            }
        }
        let lying = MCAPFile.magic + Self.channel + MCAPFile.footer(summary: 8, offsets: 1 << 60)
        #expect(throws: MCAPError.malformed("the summary offsets are not within the summary")) {
            try MCAPSummary(MCAPBytes(lying), limits: limits)
        }
    }
}
