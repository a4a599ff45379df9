import Basics
import Capability
import Database
import Synchronization

/// The counters of the app; any thread may read them at any time.
final class ShareCodeMetrics: MetricSource {
    private struct Counts {
        /// Checks of codes that are free, and of codes that are taken.
        var free = 0
        var taken = 0
        var misses = 0
        /// Collisions by the length of the code.
        var collisions: [Int: Int] = [:]
    }

    private let database: Database
    private let clock: any WallClock
    private let waits: InboxWaits
    private let counts = Lock(Counts())

    init(database: Database, clock: any WallClock, waits: InboxWaits) {
        self.database = database
        self.clock = clock
        self.waits = waits
    }

    func checked(isUnique: Bool) {
        counts.withLock { counts in
            if isUnique { counts.free += 1 } else { counts.taken += 1 }
        }
    }

    /// Notes a lookup that found nothing, or a check of a code that is taken: what a walk through the codes causes.
    func missed() { counts.withLock { $0.misses += 1 } }

    func collided(length: Int) { counts.withLock { $0.collisions[length, default: 0] += 1 } }

    var families: [MetricFamily] {
        let now = clock.now()
        let counts = counts.withLock { $0 }
        // A database that cannot be read leaves the gauge without a sample: the page of metrics still has all the others.
        let live = try? database.readBlocking { try ShareCodeRecords($0).liveCount(at: now) }
        return [
            .gauge(
                "data_gateway_share_codes_live", "Share codes that can be looked up.", live.map { [([], $0)] } ?? []),
            .counter(
                "data_gateway_share_codes_checks_total", "Checks whether a share code is unique.",
                [([("unique", "true")], counts.free), ([("unique", "false")], counts.taken)]),
            .counter(
                "data_gateway_share_codes_misses_total",
                "Lookups of share codes that found nothing, and checks of codes that are taken.",
                [([], counts.misses)]),
            .counter(
                "data_gateway_share_codes_collisions_total", "Collisions of share codes that apps recorded.",
                ShareCode.lengths.map { ([("length", "\($0)")], counts.collisions[$0] ?? 0) }),
            .gauge(
                "data_gateway_share_codes_waiting_calls", "Calls that list requests and wait for a new one.",
                [([], waits.count)]),
        ]
    }
}
