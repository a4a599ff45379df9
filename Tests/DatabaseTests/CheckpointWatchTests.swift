import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct CheckpointWatchTests {
    private let start = ContinuousClock.now

    /// Follows checkpoints with these outcomes, one each second, and returns what is reported.
    private func changes(
        _ outcomes: [(logged: Int?, moved: Int)], after: Duration = .seconds(60), hasEarlierReads: Bool = false
    ) -> [LogChange] {
        var watch = CheckpointWatch(.init(pages: 100, duration: after))
        return outcomes.enumerated().flatMap { index, outcome in
            watch.follow(
                .init(logged: outcome.logged, moved: outcome.moved), at: start + .seconds(index),
                hasEarlierReads: hasEarlierReads)
        }
    }

    @Test func aLogThatGrewFarUnderOneSnapshotIsReportedOnce() {
        let blocked = [(10, 5), (90, 5), (100, 5), (200, 5)].map { (logged: Optional($0.0), moved: $0.1) }
        #expect(changes(blocked) == [.blocked(bytes: 409_600)])
        #expect(
            changes(blocked + [(200, 200), (10, 10)]) == [.blocked(bytes: 409_600), .released(.seconds(4))])
    }

    @Test func aSmallLogIsReportedWhenItIsBlockedForLong() {
        #expect(changes([(10, 5), (10, 5), (11, 5)], after: .seconds(2)) == [.blocked(bytes: 45_056)])
        #expect(changes([(10, 5), (10, 5)], after: .seconds(2)).isEmpty)
    }

    @Test func snapshotsThatFollowEachOtherAreNotReported() {
        #expect(changes((1...200).map { (logged: $0 * 10, moved: $0) }, after: .zero).isEmpty)
    }

    @Test func aReleasedSnapshotIsReportedAlthoughAnotherOneIsHeld() {
        let outcomes: [(logged: Int?, moved: Int)] = [(100, 5), (100, 5), (150, 120), (150, 120)]
        let reports: [LogChange] = [.blocked(bytes: 409_600), .released(.seconds(2)), .blocked(bytes: 614_400)]
        #expect(changes(outcomes) == reports)
    }

    @Test func readsOfTheGatewayAreNotReported() {
        #expect(changes([(200, 5), (300, 5)], after: .zero, hasEarlierReads: true).isEmpty)
    }

    /// SQLite tells no numbers while another connection makes a checkpoint.
    @Test func checkpointsOfAnotherProgramAreReported() {
        #expect(changes([(nil, -1), (nil, -1)], after: .seconds(1)) == [.blocked(bytes: 0)])
    }
}
