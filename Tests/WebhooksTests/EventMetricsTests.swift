import Basics
import Database
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct EventMetricsTests {
    @Test func queueThatCannotBeReadIsUnknownAndNotEmpty() throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        let metrics = EventMetrics(webhooks: ["a"], database: scene.database, clock: scene.clock)
        metrics.note(.delivered, of: "a")
        scene.clock.advance(seconds: 7)
        #expect(metrics.snapshot.map(\.counts.queue) == [.init(pending: 1, dead: 0, oldestPendingSeconds: 7)])
        scene.database.close()
        #expect(metrics.snapshot.map(\.counts.queue) == [nil])
        #expect(metrics.snapshot.map(\.counts.delivered) == [1])
    }
}
