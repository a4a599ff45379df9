import Basics
import FileTesting
import TestSupport
import Testing

@testable import MCAP

/// Recordings with a summary that has everything.
@Suite(.timeLimited) struct MCAPSummaryTests {
    @Test func timesAndTopicsComeFromTheSummary() throws {
        // The data section has no records, so nothing is read there.
        let found = try MCAPSummary(
            MCAPBytes(
                MCAPFile.file(
                    [UInt8](repeating: 0xAA, count: 100),
                    [
                        MCAPFile.record(99, [1]), MCAPFile.channel("/imu", 2),
                        MCAPFile.channel("/camera") + MCAPFile.channel("/imu", 3),
                        MCAPFile.statistics(
                            messages: 7, channels: 3, 1_700_000_000_123_456_789, 1_700_000_001_000_000_000),
                    ])))
        #expect(found.topics == ["/camera", "/imu"])
        #expect(found.messages == 7)
        #expect(found.recordedFrom == UnixTime(microseconds: 1_700_000_000_123_456))
        #expect(found.recordedTo == UnixTime(seconds: 1_700_000_001))
        #expect(found.shortfall == nil)
    }

    @Test func chunkIndexesGiveTheTimesOfARecordingWithoutStatistics() throws {
        let found = try MCAPSummary(
            MCAPBytes(
                MCAPFile.file(
                    [0xAA],
                    [MCAPFile.channel("/imu"), MCAPFile.chunkIndex(5000, 9000) + MCAPFile.chunkIndex(3000, 4000)])))
        #expect(found.recordedFrom == UnixTime(microseconds: 3))
        #expect(found.recordedTo == UnixTime(microseconds: 9))
        #expect(found.messages == nil && found.topics == ["/imu"])
    }

    @Test func recordingWithoutMessagesHasNoTimes() throws {
        let statistics = MCAPFile.statistics(messages: 0, 0, 0)
        let found = try MCAPSummary(MCAPBytes(MCAPFile.file([], [MCAPFile.channel("/imu"), statistics])))
        #expect(found.recordedFrom == nil && found.recordedTo == nil && found.messages == 0)
        #expect(found.topics == ["/imu"] && found.shortfall == nil)
    }

    @Test(arguments: [true, false], [true, false])
    func chunksWithoutMessagesHaveNoTimes(isFirst: Bool, hasStatistics: Bool) throws {
        // The index of a chunk without messages, as the specification writes it and as version 2.0 of the C++ writer does.
        for empty in [MCAPFile.chunkIndex(0, 0), MCAPFile.chunkIndex(.max, 0)] {
            let index = MCAPFile.chunkIndex(4000, 9000, channels: 1..<2)
            let statistics = hasStatistics ? MCAPFile.statistics(messages: 2, 4000, 9000) : []
            let found = try MCAPSummary(
                MCAPBytes(
                    MCAPFile.file(
                        [], [MCAPFile.channel("/imu"), statistics, isFirst ? empty + index : index + empty])))
            #expect(found.recordedFrom == UnixTime(microseconds: 4))
            #expect(found.recordedTo == UnixTime(microseconds: 9))
            #expect(found.topics == ["/imu"] && found.shortfall == nil)
        }
    }

    @Test func messagesAtTheTimeZeroCount() throws {
        let index = MCAPFile.chunkIndex(0, 0, channels: 1..<2) + MCAPFile.chunkIndex(0, 2000, channels: 1..<2)
        let found = try MCAPSummary(MCAPBytes(MCAPFile.file([], [MCAPFile.channel("/imu"), index])))
        #expect(found.recordedFrom == UnixTime(microseconds: 0))
        #expect(found.recordedTo == UnixTime(microseconds: 2))
    }

    /// A writer for ROS 1 had the two times of the statistics the wrong way round.
    @Test func contradictoryTimesOfStatisticsAreNotUsed() throws {
        let statistics = MCAPFile.statistics(messages: 2, 9000, 1)
        let found = try MCAPSummary(
            MCAPBytes(
                MCAPFile.file([], [MCAPFile.channel("/imu"), statistics, MCAPFile.chunkIndex(4000, 9000)])))
        #expect(found.recordedFrom == UnixTime(microseconds: 4))
        #expect(found.recordedTo == UnixTime(microseconds: 9))
        #expect(found.topics == ["/imu"] && found.messages == 2)
    }

    @Test func numberAndLengthOfTopicsAreLimited() throws {
        func topics(_ names: [String]) throws -> [String] {
            let channels = names.enumerated().flatMap { MCAPFile.channel($1, UInt64($0)) }
            let statistics = MCAPFile.statistics(messages: 0, channels: UInt64(names.count), 0, 0)
            return try MCAPSummary(MCAPBytes(MCAPFile.file([], [channels, statistics]))).topics
        }
        #expect(try topics((0..<1200).map { "/topic/\($0)" }).count == MCAPLimits.topics)
        let odd = [257, 600].map { String(repeating: "x", count: $0) } + ["", "a\u{0}b", "a\nb"]
        #expect(try topics(odd + ["/kept"]) == ["/kept"])
    }

    /// A file with a few bytes before the summary.
    private static func file(_ summary: [UInt8], start: UInt64) -> [UInt8] {
        MCAPFile.magic + [UInt8](repeating: 0xAA, count: 100) + summary + MCAPFile.footer(summary: start)
    }

    static let rejected: [([UInt8], MCAPError)] = [
        ([], .notMCAP), (Array("no recording at all, but long enough to have an end record".utf8), .notMCAP),
        (file([], start: 1 << 63), .malformed("the summary is not within the file")),
        (file([], start: 7), .malformed("the summary is not within the file")),
        (file([4, 1], start: 108), .malformed("a record is cut short")),
        (file([4] + MCAPFile.number(.max, 8), start: 108), .malformed("a record is longer than the summary")),
        (
            file(MCAPFile.record(4, MCAPFile.number(0, 4) + MCAPFile.number(0xFFFF_FFFF, 4)), start: 108),
            .malformed("a field is longer than its record")
        ),
        (file(MCAPFile.record(8, [1, 2, 3]), start: 108), .malformed("a field is longer than its record")),
        (file(MCAPFile.record(11, [1, 2, 3]), start: 108), .malformed("a field is longer than its record")),
    ]

    @Test(arguments: 0..<rejected.count) func lyingSummaryIsRejected(_ index: Int) {
        let (bytes, expected) = Self.rejected[index]
        #expect(throws: expected) { try MCAPSummary(MCAPBytes(bytes)) }
    }
}
