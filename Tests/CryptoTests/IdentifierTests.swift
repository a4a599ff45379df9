import Basics
import Crypto
import TestSupport
import Testing

@Suite(.timeLimited) struct IdentifierTests {
    @Test func increaseEvenWithinAMillisecond() {
        let identifiers = Identifiers(clock: ManualClock())
        let made = (0..<5000).map { _ in identifiers.uuid() }
        #expect(made == made.sorted())
        #expect(Set(made).count == made.count)
    }

    @Test func uuidHoldsTimeVersionAndVariant() {
        let made = Identifiers(clock: ManualClock(UnixTime(microseconds: 0x0123_4567_89AB * 1000))).uuid()
        #expect(made.hasPrefix("01234567-89ab-7000-"))
        #expect(made.count == 36)
        #expect("89ab".contains(Array(made)[19]))
    }
}
