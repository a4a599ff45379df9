import Basics
import TestSupport
import Testing
import Wire

@testable import HTTP2

@Suite(.timeLimited) struct PeerAbuseDetectorTests {
    private static let second: UInt64 = 1_000_000_000

    private func settings() -> HTTP2Settings {
        var settings = HTTP2Settings()
        settings.controlFrameBurst = 10
        settings.controlFramesPerSecond = 2
        settings.resetBurst = 5
        settings.resetsPerSecond = 1
        settings.oversizedHeaderBurst = 3
        return settings
    }

    @Test func aBurstIsTakenAndAFloodIsNot() {
        var conduct = PeerAbuseDetector(settings())
        // The first is free, because data flowed in the handshake.
        let verdicts = (0..<12).map { _ in conduct.controlFrame(at: Self.second) }
        #expect(verdicts.prefix(11).allSatisfy { $0 == nil })
        #expect(verdicts.last == .controlFrames)
        let later = conduct.controlFrame(at: 2 * Self.second)
        #expect(later == nil)
    }

    @Test func pingsBetweenDataAreNoFlood() {
        var conduct = PeerAbuseDetector(settings())
        for _ in 0..<1000 {
            conduct.dataFlowed()
            let verdict = conduct.controlFrame(at: Self.second)
            #expect(verdict == nil)
        }
    }

    @Test func floodsOfResetsAndHeaderSectionsAreDetected() {
        var conduct = PeerAbuseDetector(settings())
        let resets = (0..<6).map { _ in conduct.madeUsReset(at: 0) }
        #expect(resets == [nil, nil, nil, nil, nil, .resets])
        let headers = (0..<4).map { _ in conduct.oversizedHeaders(at: 0) }
        #expect(headers == [nil, nil, nil, .headerSections])
    }

    @Test func aBucketFillsToItsBrimOnly() {
        var bucket = TokenBucket(burst: 2, refill: 1)
        let taken = [0, 0, 0, 1, 1, 100, 100, 100].map { bucket.take(at: UInt64($0) * Self.second) }
        #expect(taken == [true, true, false, true, false, true, true, false])
    }
}
