import Basics
import TestSupport
import Testing

@Suite(.timeLimited) struct ClockDifferenceTests {
    // Inside of the call, however long it took, and at its ends.
    private static let inside: [(Int64, Int64, Int64, Int64)] = [
        (0, 0, 0, 0), (5, 0, 60, 0), (0, 0, 60, 0), (60, 0, 60, 0),
    ]
    private static let outside: [(Int64, Int64, Int64, Int64)] = [(70, 0, 60, 10), (-70, 0, 60, -70)]

    @Test(arguments: inside + outside)
    func onlyATimeOutsideOfTheCallShowsADifference(time: Int64, begin: Int64, end: Int64, difference: Int64) {
        let start = UnixTime(seconds: 1_700_000_000)
        let measured = start.adding(seconds: time)
            .clockDifference(between: start.adding(seconds: begin), and: start.adding(seconds: end))
        #expect(measured == .seconds(difference))
    }

    @Test func timeThatWasRoundedDownMayBeLater() {
        let begin = UnixTime(seconds: 1_700_000_000).adding(microseconds: 900_000)
        for (seconds, difference) in [(0, Duration.zero), (-1, .milliseconds(-900)), (1, .milliseconds(100))] {
            let time = UnixTime(seconds: 1_700_000_000 + Int64(seconds))
            #expect(time.clockDifference(between: begin, and: begin, resolution: .seconds(1)) == difference)
        }
    }

    /// The response to a probe took eight seconds on a busy machine.
    @Test func slowResponseShowsNoDifference() {
        let begin = UnixTime(seconds: 1_700_000_000)
        for sent in 0...8 {
            let difference = begin.adding(seconds: Int64(sent))
                .clockDifference(between: begin, and: begin.adding(seconds: 8), resolution: .seconds(1))
            #expect(difference == .zero)
        }
    }
}
