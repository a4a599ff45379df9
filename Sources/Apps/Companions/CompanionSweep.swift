import AppProto
import AppSupport
import Basics
import Capability
import Database

/// The end of waits for a partner that took too long, and the removal of old matches, once a minute.
struct CompanionSweep: Sendable {
    let database: Database
    let plans: PlanCatalog
    let news: Signal

    /// The time for which ended matches are stored.
    let retention: Duration

    var all: [Sweep] {
        [Sweep("companions_queue", run: endWaits), Sweep("companions_matches", run: removeMatches)]
    }

    private func removeMatches(_ permit: DeletionPermit) async throws -> Int {
        let limit = try permit.now().subtracting(retention)
        guard try await database.read({ try MatchRecords($0).hasEnded(before: limit) }) else { return 0 }
        return try await database.write(mayUseReserve: true) { connection in
            try MatchRecords(connection).removeEnded(before: permit.now().subtracting(retention))
        }
    }

    private func endWaits(_ permit: DeletionPermit) async throws -> Int {
        let limit = try permit.now().subtracting(CompanionsConfiguration.waitingTime)
        // A write would commit although it removes nothing.
        guard try await database.read({ try MatchRecords($0).hasQueued(before: limit) }) else { return 0 }
        defer { news.notify() }
        return try await database.write(mayUseReserve: true) { connection in
            let now = try permit.now()
            let removed = try MatchRecords(connection).removeQueued(
                before: now.subtracting(CompanionsConfiguration.waitingTime))
            for (userID, plan) in removed {
                let title = plans.plan(plan)?.title ?? "\(plan)"
                try MessageRecords(connection).insert(Notice.stoppedWaiting(title), to: userID, at: now)
            }
            return removed.count
        }
    }
}
