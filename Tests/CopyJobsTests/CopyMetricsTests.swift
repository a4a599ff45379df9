import Database
import TestSupport
import Testing

@testable import CopyJobs

@Suite(.timeLimited) struct CopyMetricsTests {
    @Test func queuesThatCannotBeReadAreUnknownAndNotEmpty() throws {
        let scene = try Scene()
        try scene.add("a", items: 2)
        let metrics = CopyMetrics(database: scene.database)
        metrics.update { $0.jobs[.failed] = 3 }
        #expect(metrics.snapshot.unfinished == .init(jobs: [.queued: 1], items: [.queued: 2]))
        scene.database.close()
        #expect(metrics.snapshot.unfinished == nil)
        #expect(metrics.snapshot.jobs == [.failed: 3])
    }
}
