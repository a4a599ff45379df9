import TestSupport
import Testing
import Wire

@testable import HTTP2

@Suite(.timeLimited) struct OpenedStreamsTests {
    /// Returns a client's streams, accepted one after the other.
    private func opened(_ ids: Int32...) -> OpenedStreams {
        var streams = OpenedStreams()
        for id in ids {
            _ = streams.opens(id)
            streams.isTaken()
        }
        return streams
    }

    /// Returns the errors for a frame on each of these streams.
    private func faults(_ streams: OpenedStreams, _ ids: Int32...) -> [HTTP2ErrorCode?] {
        var streams = streams
        return ids.map { streams.fault($0) }
    }

    @Test func aClientOpensHigherOddIdentifiersOnly() {
        var streams = opened(5)
        let responses = [1, 2, 5, 6, 7].map { streams.opens($0) }
        #expect(responses == [false, false, false, false, true])
    }

    @Test func aStreamThatTheClientEndedIsClosed() {
        #expect(faults(opened(1, 3), 1, 3) == [.streamClosed, .streamClosed])
    }

    @Test func anIdentifierThatWasSkippedIsAProtocolError() {
        #expect(
            faults(opened(3, 9), 1, 3, 5, 7, 9)
                == [.protocolError, .streamClosed, .protocolError, .protocolError, .streamClosed])
    }

    @Test func idleAndServerStreamsAreNoFault() {
        #expect(faults(opened(1), 0, 2, 3) == [nil, nil, nil])
    }

    @Test func framesThatCrossOurResetAreIgnored() {
        var streams = opened(1, 3)
        streams.recordReset(1)
        #expect(faults(streams, 1, 3) == [nil, .streamClosed])
    }

    @Test func framesOfANeverAcceptedStreamAreIgnored() {
        var streams = opened(1)
        _ = streams.opens(3)
        _ = streams.opens(5)
        #expect(faults(streams, 1, 3, 5) == [.streamClosed, nil, nil])
    }

    /// The oldest are forgotten; after that all frames are ignored, as by nghttp2.
    @Test func memoryIsBounded() {
        var streams = OpenedStreams()
        let count = Int32(OpenedStreams.maxRecentlyReset + 1)
        for id in stride(from: 1, to: 4 * count, by: 4) {
            _ = streams.opens(id)
            streams.recordReset(id)
        }
        let last = 4 * count - 3
        // 3 was skipped, but so were many later identifiers.
        #expect(faults(streams, 1, 3, 5, last - 2, last) == [nil, .streamClosed, nil, .protocolError, nil])
        streams.recordReset(3)
        streams.recordReset(7)
        #expect(faults(streams, 1, 3, 5, 7) == [nil, nil, nil, nil])
    }
}
