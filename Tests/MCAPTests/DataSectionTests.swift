import Basics
import FileTesting
import TestSupport
import Testing

@testable import MCAP

/// Recordings whose data section has to be read.
@Suite(.timeLimited) struct DataSectionTests {
    private static let records =
        MCAPFile.schema() + MCAPFile.channel("/imu") + MCAPFile.message(at: 4000) + MCAPFile.channel("/camera", 2)
        + MCAPFile.message(at: 9000, 2)

    /// The beginning of a recording, as it is on the disk when the recorder has lost its power.
    private static func open(_ data: [UInt8]) -> [UInt8] { MCAPFile.magic + MCAPFile.header + data }

    @Test func recordingThatWasNotClosedHasWhatWasRecorded() throws {
        let chunks = MCAPFile.chunk(Self.records, 4000, 9000) + MCAPFile.record(7, [1, 0, 0, 0, 0, 0])
        for tail in [[], [UInt8](repeating: 0, count: 5000), [4, 1, 2], MCAPFile.dataEnd] {
            for data in [Self.records, chunks] {
                let found = try MCAPSummary(MCAPBytes(Self.open(data + tail)))
                #expect(found.topics == ["/camera", "/imu"])
                #expect(found.recordedFrom == UnixTime(microseconds: 4))
                #expect(found.recordedTo == UnixTime(microseconds: 9))
                #expect(found.shortfall == .notClosed)
            }
        }
    }

    /// The power may be lost at any byte.
    @Test func recordingThatIsCutAnywhereHasItsWholeMessages() throws {
        let first = MCAPFile.chunk(Self.records, 4000, 9000)
        let second = MCAPFile.chunk(MCAPFile.channel("/gps", 3) + MCAPFile.message(at: 12_000, 3), 12_000, 12_000)
        let whole = Self.open(first + second)
        let endOfFirst = Self.open(first).count
        for count in MCAPFile.magic.count...whole.count {
            let found = try MCAPSummary(MCAPBytes(Array(whole.prefix(count))))
            #expect(found.shortfall == .notClosed)
            if count >= endOfFirst { #expect(Set(found.topics).isSuperset(of: ["/camera", "/imu"])) }
            let last: Int64? =
                count == whole.count ? 12 : count >= endOfFirst ? 9 : found.recordedFrom == nil ? nil : 4
            // The last message of the first chunk is at its end.
            #expect(found.recordedTo == last.map { UnixTime(microseconds: $0) }, "\(count)")
        }
        let cut = try MCAPSummary(MCAPBytes(Array(whole.prefix(endOfFirst - 1))))
        #expect(cut.topics == ["/camera", "/imu"] && cut.recordedTo == UnixTime(microseconds: 4))
    }

    /// The disk may have allocated a chunk that was written in part.
    @Test func zerosInAChunkEndARecordingThatWasNotClosed() throws {
        let written = MCAPFile.channel("/imu") + MCAPFile.message(at: 4000)
        let zeros = [UInt8](repeating: 0, count: 5000)
        let found = try MCAPSummary(MCAPBytes(Self.open(MCAPFile.chunk(written + zeros, 4000, 9000) + zeros)))
        #expect(found.topics == ["/imu"] && found.shortfall == .notClosed)
        #expect(found.recordedFrom == UnixTime(microseconds: 4) && found.recordedTo == UnixTime(microseconds: 4))
    }

    @Test func summaryOfARecordingWithoutItsEndIsUsed() throws {
        let closed = MCAPFile.file(
            MCAPFile.chunk([1, 2, 3], 1, 2, compression: "zstd"),
            [MCAPFile.channel("/imu"), MCAPFile.statistics(messages: 2, 4000, 9000)])
        let found = try MCAPSummary(MCAPBytes(Array(closed.dropLast(30))))
        #expect(found.topics == ["/imu"] && found.recordedTo == UnixTime(microseconds: 9))
    }

    @Test func timesOfCompressedChunksAreFound() throws {
        let data =
            MCAPFile.chunk([1, 2, 3], .max, 0, compression: "zstd")
            + MCAPFile.chunk([1, 2, 3], 4000, 9000, compression: "zstd")
        for file in [MCAPFile.file(data, []), Self.open(data)] {
            let found = try MCAPSummary(MCAPBytes(file))
            #expect(found.topics.isEmpty)
            #expect(found.recordedFrom == UnixTime(microseconds: 4) && found.recordedTo == UnixTime(microseconds: 9))
            #expect(found.shortfall != nil)
        }
    }

    @Test func bytesThatAreReadOfTheDataAreLimited() throws {
        var limits = MCAPLimits()
        limits.readBytes = 64 << 10
        let messages = (10...1000).flatMap { MCAPFile.message(at: $0 * 1000, data: [UInt8](repeating: 7, count: 200)) }
        let found = try MCAPSummary(
            MCAPBytes(MCAPFile.file(Self.records + messages, [])), limits: limits)
        #expect(found.topics == ["/camera", "/imu"])
        #expect(found.recordedFrom == UnixTime(microseconds: 4) && found.recordedTo == nil)
        #expect(found.shortfall == .limitExceeded("at most 65536 bytes of a recording are read"))
    }

    @Test func timesOfChunksBehindTheSearchForChannelsAreFound() throws {
        var limits = MCAPLimits()
        limits.bytesBeforeSkippingChunks = 32 << 10
        let chunks = (1...40 as ClosedRange<UInt64>).flatMap { number in
            let message = MCAPFile.message(at: number * 1000, data: [UInt8](repeating: 7, count: 3000))
            return MCAPFile.chunk(MCAPFile.channel("/\(number)", number) + message, number * 1000, number * 1000)
        }
        let found = try MCAPSummary(MCAPBytes(MCAPFile.file(chunks, [])), limits: limits)
        #expect(found.recordedFrom == UnixTime(microseconds: 1) && found.recordedTo == UnixTime(microseconds: 40))
        #expect((1..<40).contains(found.topics.count))
        #expect(found.shortfall == .limitExceeded("channels are searched in the chunks of the first 32768 bytes"))
    }

    @Test func dataThatContradictsItselfIsReadUpToThere() throws {
        let chunk = MCAPFile.chunk(Self.records, 4000, 9000)
        let damaged: [[UInt8]] = [
            [4] + MCAPFile.number(1 << 62, 8), MCAPFile.record(5, [1]), MCAPFile.record(6, [1, 2, 3]),
            MCAPFile.record(0, [1]), MCAPFile.chunk([4] + MCAPFile.number(90, 8), 0, 0),
            MCAPFile.record(6, [UInt8](repeating: 0, count: 32) + MCAPFile.number(1 << 62, 8)),
            MCAPFile.record(6, [UInt8](repeating: 0, count: 28) + MCAPFile.number(1 << 31, 4)),
        ]
        for bytes in damaged {
            let found = try MCAPSummary(MCAPBytes(MCAPFile.file(chunk + bytes, [])))
            #expect(found.topics == ["/camera", "/imu"])
            #expect(found.recordedFrom == UnixTime(microseconds: 4) && found.recordedTo == nil)
            guard case .malformed = found.shortfall else {
                Issue.record("\(bytes)")
                continue
            }
        }
    }

    /// Statistics say how many channels there are, so that only the beginning of a long recording is read.
    @Test func dataIsReadOnlyUntilAllChannelsAreFound() throws {
        let summary = [MCAPFile.statistics(messages: 2, channels: 2, 4000, 9000)]
        let file = MCAPFile.file(
            MCAPFile.chunk(Self.records, 4000, 9000) + MCAPFile.chunk([0xAA], 0, 0) + [5, 1], summary)
        let found = try MCAPSummary(MCAPBytes(file))
        #expect(found.topics == ["/camera", "/imu"] && found.recordedTo == UnixTime(microseconds: 9))
        #expect(found.shortfall == nil)
    }
}
