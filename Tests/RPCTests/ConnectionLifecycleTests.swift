import TestSupport
import Testing

@testable import RPC

@Suite(.timeLimited) struct ConnectionLifecycleTests {
    private static let second: UInt64 = 1_000_000_000
    private let start: UInt64 = 1000 * second

    private func limits() -> LifecycleLimits {
        var limits = LifecycleLimits()
        limits.handshake = .seconds(10)
        limits.stall = .seconds(30)
        limits.idle = .seconds(600)
        limits.keepaliveInterval = .seconds(60)
        limits.keepaliveTimeout = .seconds(20)
        limits.age = .seconds(1000)
        limits.ageGrace = .seconds(100)
        return limits
    }

    private func at(_ seconds: UInt64) -> UInt64 { start + seconds * Self.second }

    /// Makes a connection with a completed handshake.
    private func opened(jitter: Double = 0.5) -> ConnectionLifecycle {
        var lifecycle = ConnectionLifecycle(limits(), jitter: jitter, now: start)
        lifecycle.handshakeCompleted()
        return lifecycle
    }

    @Test func aReaderHasToKeepARate() {
        func cut(after seconds: UInt64, sending rate: UInt64) -> Bool {
            var lifecycle = opened()
            return (0...seconds).contains { second in
                lifecycle.received(at: at(second))
                lifecycle.responsesWait(sent: second * rate, at: at(second))
                return lifecycle.tick(at: at(second)) == .abort("stalled")
            }
        }
        #expect(!cut(after: 100, sending: 1024))
        #expect(cut(after: 30, sending: 1023))
        #expect(cut(after: 30, sending: 0))
        #expect(!cut(after: 29, sending: 0))
    }

    @Test func aReaderWhoIsDoneBeginsAnew() {
        var lifecycle = opened()
        for second in 1...50 as ClosedRange<UInt64> {
            lifecycle.responsesWait(sent: second, at: at(second))
            if second == 25 { lifecycle.responsesAreSent() }
            #expect(lifecycle.tick(at: at(second)) == .none)
        }
    }

    @Test func withoutPrefaceItIsCutOff() {
        var lifecycle = ConnectionLifecycle(limits(), jitter: 0, now: start)
        lifecycle.received(at: at(9))
        #expect(lifecycle.tick(at: at(9)) == .none)
        #expect(lifecycle.tick(at: at(10)) == .abort("handshake_timeout"))
    }

    @Test func aSilentClientIsAskedAndThenCutOff() {
        var lifecycle = opened()
        #expect(lifecycle.tick(at: at(59)) == .none)
        #expect(lifecycle.tick(at: at(60)) == .ping)
        #expect(lifecycle.tick(at: at(79)) == .none)
        #expect(lifecycle.tick(at: at(80)) == .abort("keepalive_timeout"))
    }

    @Test func anAnswerIsASignOfLife() {
        var lifecycle = opened()
        #expect(lifecycle.tick(at: at(60)) == .ping)
        lifecycle.received(at: at(61))
        #expect(lifecycle.tick(at: at(100)) == .none)
        #expect(lifecycle.tick(at: at(121)) == .ping)
    }

    @Test func withoutACallItEndsInOrder() {
        var lifecycle = opened()
        lifecycle.streamsChanged(1, at: at(1))
        lifecycle.received(at: at(599))
        lifecycle.streamsChanged(0, at: at(100))
        #expect(lifecycle.tick(at: at(600)) == .none)
        lifecycle.received(at: at(699))
        #expect(lifecycle.tick(at: at(700)) == .shutDown("idle"))
        #expect(lifecycle.tick(at: at(799)) == .none)
        #expect(lifecycle.tick(at: at(800)) == .abort("shutdown_timeout"))
    }

    /// gRFC A9: plus or minus ten percent.
    @Test(arguments: [(0.0, 900), (0.5, 1000), (1.0, 1100)] as [(Double, UInt64)])
    func ageHasJitter(jitter: Double, end: UInt64) {
        var lifecycle = opened(jitter: jitter)
        lifecycle.streamsChanged(1, at: start)
        lifecycle.received(at: at(end - 1))
        #expect(lifecycle.tick(at: at(end - 1)) == .none)
        #expect(lifecycle.tick(at: at(end)) == .shutDown("max_age"))
    }

    @Test func stalledConnectionIsCutOff() {
        var lifecycle = opened()
        lifecycle.stalled(true, at: at(1))
        lifecycle.stalled(false, at: at(30))
        lifecycle.stalled(true, at: at(31))
        lifecycle.stalled(true, at: at(50))
        #expect(lifecycle.tick(at: at(59)) == .none)
        #expect(lifecycle.tick(at: at(61)) == .abort("stalled"))
    }

    @Test func ticksAreOftenEnough() {
        var limits = limits()
        limits.keepaliveTimeout = .seconds(1)
        #expect(ConnectionLifecycle(limits, jitter: 0, now: start).tickInterval == Self.second / 4)
    }
}
