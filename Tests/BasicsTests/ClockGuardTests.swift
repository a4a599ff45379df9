import Basics
import Synchronization
import TestSupport
import Testing

/// The confirmation of clocks for deletions, and the correction of times from a wrong clock.
@Suite(.timeLimited) struct ClockGuardTests {
    private static let day: Int64 = 86_400
    private static let step: Int64 = 400 * day
    private let clock = ManualClock()

    private func makeGuard(_ former: ClockGuard? = nil) throws -> ClockGuard {
        ClockGuard(record: try former?.record(), clock: clock)
    }

    /// Advances the time like a gateway, which reads the clock once a minute.
    private func pass(hours: Int64, _ clockGuard: ClockGuard) {
        for _ in 0..<(hours * 60) {
            clock.advance(seconds: 60)
            _ = clockGuard.permit()
        }
    }

    @Test(arguments: [step, -step])
    func aStepPausesDeletionUntilItIsTakenBack(step: Int64) throws {
        let clockGuard = try makeGuard()
        let before = try #require(clockGuard.permit())
        clock.step(seconds: step)
        #expect(throws: ClockStepped.self) { try before.now() }
        #expect(clockGuard.permit() == nil)
        #expect(clockGuard.status.stepSeconds == step)
        #expect(clockGuard.status.remainingSeconds == ClockGuard.defaultConfirmation.wholeSeconds)
        clock.advance(seconds: 3)
        clock.step(seconds: -step)
        let after = try #require(clockGuard.permit())
        #expect(try after.now() == clock.now())
        #expect(clockGuard.status.stepSeconds == 0)
    }

    @Test(arguments: [step, -step])
    func twelveHoursWithoutAStepConfirm(step: Int64) throws {
        let clockGuard = try makeGuard()
        clock.step(seconds: step)
        #expect(clockGuard.permit() == nil)
        clock.advance(seconds: 12 * 3600 - 1)
        #expect(clockGuard.permit() == nil)
        clock.advance(seconds: 1)
        #expect(try clockGuard.permit()?.now() == clock.now())
    }

    @Test func anotherStepStartsTheWaitAgain() throws {
        let clockGuard = try makeGuard()
        clock.step(seconds: Self.step)
        pass(hours: 11, clockGuard)
        clock.step(seconds: 2 * Self.day)
        #expect(clockGuard.permit() == nil)
        pass(hours: 11, clockGuard)
        #expect(clockGuard.permit() == nil)
        pass(hours: 1, clockGuard)
        #expect(clockGuard.permit() != nil)
    }

    @Test func anOperatorConfirmsTheStepThatTheySaw() throws {
        let clockGuard = try makeGuard()
        clock.step(seconds: Self.step)
        let seen = clockGuard.status.stepSeconds
        clock.step(seconds: Self.step)
        #expect(!clockGuard.confirm(step: seen))
        #expect(clockGuard.permit() == nil)
        #expect(clockGuard.confirm(step: 2 * Self.step))
        #expect(clockGuard.permit() != nil)
    }

    @Test func driftAndSmallStepsAreBelieved() throws {
        let clockGuard = try makeGuard()
        for _ in 0..<1000 {
            pass(hours: 1, clockGuard)
            clock.step(seconds: 60)
            #expect(clockGuard.permit() != nil)
        }
        clock.step(seconds: -23 * 3600)
        #expect(clockGuard.permit() != nil)
    }

    @Test func manySmallStepsAreOneLargeStep() throws {
        let clockGuard = try makeGuard()
        for _ in 0..<3 {
            clock.step(seconds: 23 * 3600)
            clock.advance(seconds: 60)
            _ = clockGuard.permit()
        }
        #expect(clockGuard.permit() == nil)
    }

    @Test(arguments: [step, -step])
    func aStepIsRememberedAcrossARestart(step: Int64) throws {
        let first = try makeGuard()
        clock.step(seconds: step)
        #expect(first.permit() == nil)
        clock.advance(seconds: 6 * 3600)
        let second = try makeGuard(first)
        #expect(second.permit() == nil)
        clock.advance(seconds: 6 * 3600)
        #expect(second.permit() != nil)
    }

    @Test func aStepWhileTheProcessWasDownIsFound() throws {
        let first = try makeGuard()
        let record = try first.record()
        clock.step(seconds: Self.step)
        #expect(ClockGuard(record: record, clock: clock).permit() == nil)
        clock.step(seconds: -Self.step)
        clock.advance(seconds: 30 * Self.day)
        #expect(ClockGuard(record: record, clock: clock).permit() != nil)
    }

    @Test func clockIsConfirmedTwelveHoursAfterMonthsOff() throws {
        let first = try makeGuard()
        let old = clock.now()
        clock.advance(seconds: 90 * Self.day)
        clock.reboot()
        let second = try makeGuard(first)
        #expect(second.permit() == nil)
        pass(hours: 12, second)
        let permit = try #require(second.permit())
        // The object was old before; the absence was not an error of the clock.
        #expect(permit.corrected(old) == old)
    }

    @Test func aMachineThatIsOffOvernightIsNotHeldUp() throws {
        var clockGuard = try makeGuard()
        for _ in 0..<10 {
            pass(hours: 1, clockGuard)
            clock.advance(seconds: 20 * 3600)
            clock.reboot()
            clockGuard = try makeGuard(clockGuard)
            #expect(clockGuard.permit() != nil)
        }
    }

    @Test func aClockThatIsConfirmedInPiecesIsConfirmed() throws {
        let first = try makeGuard()
        clock.step(seconds: Self.step)
        #expect(first.permit() == nil)
        pass(hours: 7, first)
        clock.advance(seconds: 600)
        clock.reboot()
        let second = try makeGuard(first)
        #expect(second.permit() == nil)
        pass(hours: 5, second)
        #expect(second.permit() != nil)
    }

    @Test func aKnownTimeStandsInForAMissingRecord() {
        let known = clock.now()
        #expect(ClockGuard(lastSeen: known, clock: clock).permit() != nil)
        clock.advance(seconds: 2 * Self.day)
        #expect(ClockGuard(lastSeen: known, clock: clock).permit() == nil)
        #expect(ClockGuard(record: [1, 2, 3], lastSeen: known, clock: clock).permit() == nil)
    }

    @Test func aBackupOnAMachineThatHasRunForLongerIsNoStep() throws {
        let first = try makeGuard()
        let (record, steady) = (try first.record(), first.steady.now())
        let other = ManualClock(clock.now().adding(seconds: 600))
        other.advance(seconds: 90 * Self.day)
        other.step(seconds: -90 * Self.day)
        let second = ClockGuard(record: record, clock: other)
        #expect(second.permit() != nil)
        #expect(second.steady.now() == steady.adding(seconds: 600))
    }

    @Test(arguments: [step, -step])
    func steadyTimeGoesOnAcrossSteps(step: Int64) throws {
        let first = try makeGuard()
        let start = first.steady.now()
        clock.step(seconds: step)
        clock.advance(seconds: 100)
        #expect(first.steady.now() == start.adding(seconds: 100))
        let second = try makeGuard(first)
        pass(hours: 13, second)
        #expect(second.steady.now() == start.adding(seconds: 100 + 13 * 3600))
        #expect(second.steady.wallTime(of: second.steady.now()) == clock.now())
        // Time in which the machine is off does not count.
        clock.advance(seconds: 40 * Self.day)
        clock.reboot()
        #expect(try makeGuard(second).steady.now() == start.adding(seconds: 100 + 13 * 3600))
    }

    @Test func timesOfASlowClockAreCorrected() throws {
        // The machine starts with a slow clock, restarts once more, and then gets the right time.
        let first = try makeGuard()
        let before = clock.now()
        clock.advance(seconds: 600)
        clock.step(seconds: -Self.step)
        clock.reboot()
        let second = try makeGuard(first)
        let slow = clock.now()
        clock.advance(seconds: 300)
        let third = try makeGuard(second)
        let last = clock.now()
        clock.step(seconds: Self.step)
        let permit = try #require(third.permit())
        #expect(permit.corrected(slow) == slow.adding(seconds: Self.step))
        #expect(permit.corrected(last) == clock.now())
        #expect(permit.corrected(before) == before)
        #expect(permit.corrected(slow.adding(seconds: -1)) == slow.adding(seconds: -1))
    }

    @Test func timesOfAClockThatWasAlwaysSlowAreCorrected() throws {
        let first = try makeGuard()
        let slow = clock.now()
        pass(hours: 72, first)
        clock.step(seconds: Self.step)
        let second = try makeGuard(first)
        pass(hours: 12, second)
        #expect(try #require(second.permit()).corrected(slow) == slow.adding(seconds: Self.step))
    }

    @Test func timesStayRightWhereTheClockCameBack() throws {
        let clockGuard = try makeGuard()
        let right = clock.now()
        for _ in 0..<200 {
            clock.step(seconds: Self.step)
            _ = clockGuard.permit()
            clock.advance(seconds: 3)
            clock.step(seconds: -Self.step)
            #expect(clockGuard.permit() != nil)
        }
        #expect(try #require(clockGuard.permit()).corrected(right) == right)
        #expect(try clockGuard.record().count < 1000)
    }

    @Test func changesAreTold() throws {
        let clockGuard = try makeGuard()
        let changes = Lock<[ClockGuard.Change]>([])
        clockGuard.onChange { change in changes.withLock { $0.append(change) } }
        clock.step(seconds: Self.step)
        _ = clockGuard.permit()
        _ = clockGuard.permit()
        clock.step(seconds: -Self.step)
        _ = clockGuard.permit()
        clock.step(seconds: -Self.step)
        _ = clockGuard.permit()
        clock.advance(seconds: 12 * 3600)
        _ = clockGuard.permit()
        #expect(
            changes.withLock { $0 } == [
                .stepped(seconds: Self.step, isConfirmed: false), .stepped(seconds: -Self.step, isConfirmed: true),
                .stepped(seconds: -Self.step, isConfirmed: false), .confirmedByTime,
            ])
    }
}
