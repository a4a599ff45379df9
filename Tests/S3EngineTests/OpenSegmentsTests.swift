import Basics
import ObjectStore
import TestSupport
import Testing

@testable import S3Engine

/// Readings beside removals that run between the read of a file's rows and the reading of its bytes.
@Suite(.timeLimited) struct OpenSegmentsTests {
    private let open = OpenSegments(longestReading: .hours(1))
    private let first = Segment("first", FileContent(size: 1, crc64: 0))
    private let second = Segment("second", FileContent(size: 1, crc64: 0))

    /// Reads a file whose rows are these, one after the other, and which changes when they have been read once.
    private func read(
        _ rows: [[Segment]], after change: () -> Void
    ) throws -> (segments: [Segment], reading: OpenSegments.Reading, reads: Int) {
        var reads = 0
        let (segments, reading) = try open.read {
            defer {
                reads += 1
                if reads == 1 { change() }
            }
            return rows[min(reads, rows.count - 1)]
        }
        return (segments, reading, reads)
    }

    @Test func rowsAreReadOnceWithoutARemoval() throws {
        let found = try read([[first]]) {}
        #expect(found.segments == [first])
        #expect(found.reads == 1)
        #expect(!open.beginRemoval(of: [first.id]))
    }

    @Test(arguments: [true, false]) func segmentsThatWereReplacedAreNotRead(hasEnded: Bool) throws {
        let found = try read([[first], [second]]) {
            #expect(open.beginRemoval(of: [first.id]))
            if hasEnded { open.endRemoval(of: [first.id]) }
        }
        #expect(found.segments == [second])
        #expect(!open.beginRemoval(of: [second.id]))
        // The reading that was given up holds nothing.
        open.endRemoval(of: [first.id])
        #expect(open.beginRemoval(of: [first.id]))
    }

    @Test func removalOfOtherSegmentsChangesNothing() throws {
        let found = try read([[first]]) { #expect(open.beginRemoval(of: [second.id])) }
        #expect(found.segments == [first])
        #expect(found.reads == 2)
    }

    @Test func fileThatIsBeingRemovedIsMissing() {
        #expect(throws: StorageFailure.missing) {
            _ = try read([[first]]) { #expect(open.beginRemoval(of: [first.id])) }
        }
    }
}
