import Basics
import Capability
import Database
import Synchronization

/// The counters of the app; any thread may read them at any time.
final class CompanionMetrics: MetricSource {
    private let database: Database
    private let counts = Lock((registrations: 0, matches: 0))

    init(database: Database) {
        self.database = database
    }

    func registered() { counts.withLock { $0.registrations += 1 } }

    func matched() { counts.withLock { $0.matches += 1 } }

    var families: [MetricFamily] {
        let counts = counts.withLock { $0 }
        // A database that cannot be read leaves the gauges without a sample: the page of metrics still has all the others.
        let now = try? database.readBlocking { try MatchRecords($0).counts() }
        return [
            .counter(
                "data_gateway_companions_registrations_total", "Accounts that were made.",
                [([], counts.registrations)]),
            .counter("data_gateway_companions_matches_total", "Matches that were made.", [([], counts.matches)]),
            .gauge(
                "data_gateway_companions_waiting", "Members who wait for a companion.",
                now.map { [([], $0.waiting)] } ?? []),
            .gauge(
                "data_gateway_companions_matches", "Matches that have not ended.", now.map { [([], $0.matches)] } ?? []
            ),
        ]
    }
}
