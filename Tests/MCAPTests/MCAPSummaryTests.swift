import Basics
import TestSupport
import Testing

@testable import MCAP

@Suite(.timeLimited) struct MCAPSummaryTests {
    private static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

    private static func number(_ value: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func text(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count), 4) + Array(text.utf8) }

    private static func record(_ opcode: UInt8, _ content: [UInt8]) -> [UInt8] {
        [opcode] + number(UInt64(content.count), 8) + content
    }

    private static func channel(_ topic: String, _ id: UInt64 = 1) -> [UInt8] {
        record(4, number(id, 2) + number(0, 2) + text(topic) + text("cdr") + number(0, 4))
    }

    private static func statistics(messages: UInt64, from: UInt64, to: UInt64) -> [UInt8] {
        record(
            11,
            number(messages, 8) + number(0, 2) + [UInt8](repeating: 0, count: 16) + number(from, 8)
                + number(to, 8) + number(0, 4))
    }

    private static func chunkIndex(from: UInt64, to: UInt64) -> [UInt8] { record(8, number(from, 8) + number(to, 8)) }

    /// A file whose data section is a few bytes that are no records.
    private static func file(_ summary: [UInt8], start: UInt64? = nil, filler: Int = 100) -> [UInt8] {
        let footer = record(2, number(start ?? UInt64(8 + filler), 8) + number(0, 8) + number(0, 4))
        return magic + [UInt8](repeating: 0xAA, count: filler) + summary + footer + magic
    }

    private func summary(_ bytes: [UInt8]) throws -> MCAPSummary { try MCAPSummary(MCAPBytes(bytes)) }

    @Test func timesAndTopicsComeFromTheSummary() throws {
        let found = try summary(
            Self.file(
                Self.record(99, [1]) + Self.channel("/imu", 2) + Self.channel("/camera") + Self.channel("/imu", 3)
                    + Self.statistics(messages: 7, from: 1_700_000_000_123_456_789, to: 1_700_000_001_000_000_000)))
        #expect(found.topics == ["/camera", "/imu"])
        #expect(found.messages == 7)
        #expect(found.recordedFrom == UnixTime(microseconds: 1_700_000_000_123_456))
        #expect(found.recordedTo == UnixTime(seconds: 1_700_000_001))
    }

    @Test func chunkIndexesGiveTheTimesOfARecordingWithoutStatistics() throws {
        let found = try summary(
            Self.file(Self.chunkIndex(from: 5000, to: 9000) + Self.chunkIndex(from: 3000, to: 4000)))
        #expect(found.recordedFrom == UnixTime(microseconds: 3))
        #expect(found.recordedTo == UnixTime(microseconds: 9))
        #expect(found.messages == nil)
    }

    @Test func recordingWithoutMessagesHasNoTimes() throws {
        let found = try summary(Self.file(Self.statistics(messages: 0, from: 0, to: 0)))
        #expect(found.recordedFrom == nil && found.recordedTo == nil && found.messages == 0)
    }

    @Test func numberAndLengthOfTopicsAreLimited() throws {
        let many = (0..<1200).flatMap { Self.channel("/topic/\($0)") }
        #expect(try summary(Self.file(many)).topics.count == MCAPLimits.topics)
        let odd = [String(repeating: "x", count: 257), "", "a\u{0}b", "a\nb"].flatMap { Self.channel($0) }
        #expect(try summary(Self.file(odd + Self.channel("/kept"))).topics == ["/kept"])
    }

    static let rejected: [([UInt8], MCAPError)] = [
        ([], .notMCAP), (Array("no recording at all, but long enough to have an end record".utf8), .notMCAP),
        (magic, .notClosed), (magic + [UInt8](repeating: 0, count: 100), .notClosed),
        (Array(file([]).dropLast()), .notClosed), (file(channel("/a"), start: 0), .noSummary),
        (file([], start: 1 << 63), .malformed("the summary is not within the file")),
        (file([], start: 7), .malformed("the summary is not within the file")),
        (file([4, 1]), .malformed("a record is cut short")),
        (file([4] + number(.max, 8)), .malformed("a record is longer than the summary")),
        (file(record(4, number(0, 4) + number(0xFFFF_FFFF, 4))), .malformed("a field is longer than its record")),
        (file(chunkIndex(from: 2, to: 1)), .malformed("a chunk ends before it begins")),
        (file(statistics(messages: 1, from: 2, to: 1)), .malformed("the recording ends before it begins")),
    ]

    @Test(arguments: 0..<rejected.count) func lyingRecordingIsRejected(_ index: Int) {
        let (bytes, expected) = Self.rejected[index]
        #expect(throws: expected) { try summary(bytes) }
    }

    /// A source of any size that holds nothing but a footer, and counts what is read of it.
    private struct HugeFile: MCAPSource {
        let size: Int64

        func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError) {
            guard buffer.count <= 64 else { throw .unreadable }
            let bytes = offset == 0 ? MCAPSummaryTests.magic : MCAPSummaryTests.file([], start: 8, filler: 0).suffix(37)
            buffer.copyBytes(from: bytes.prefix(buffer.count))
        }
    }

    @Test func summaryBeyondTheLimitIsNotRead() {
        #expect(
            throws: MCAPError.limitExceeded(
                "the summary has \((4 << 30) - 45) bytes, at most \(MCAPLimits.summaryBytes) are read")
        ) {
            try MCAPSummary(HugeFile(size: 4 << 30))
        }
    }
}
