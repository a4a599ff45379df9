import Accounts
import Catalog
import Copies
import Events
import ObjectStore
import Uploads

/// What is done once a minute while the gateway serves: writing what is written late, and removing what is past its time.
struct Housekeeping: Sendable {
    private static let interval = Duration.seconds(60)

    let accounts: Accounts
    let uploads: Uploads
    let catalog: Catalog
    let events: Events
    let copies: Copies
    let store: ObjectStore
    /// After how many seconds without a part a multipart upload of a static key is given up.
    let directUploadIdle: Int64
    let metrics: SweepMetrics

    /// Says what the start found out of order, then works until its task is cancelled.
    func run() async {
        report()
        while !Task.isCancelled {
            await sweep(.auditLines) { try await accounts.tidy() }
            await sweep(.events) { try await events.tidy() }
            await sweep(.copyJobs) { try await copies.sweep() }
            // Over a store that the database is too old for, nothing may be removed: it may be the only copy.
            if !store.reconciliation.isForeign {
                await sweep(.uploads) { try await uploads.sweep() }
                await sweep(.objects) { try await catalog.applyRetention() }
                await sweep(.uploadRecords) { try await uploads.sweepRecords() }
                await sweep(.deletedObjects) { try await catalog.sweepDeleted() }
                await sweep(.usage) { try await store.sweepUsage() + uploads.sweepUsage() }
                await sweep(.multiparts) { try await store.sweepDirectMultiparts(idleFor: directUploadIdle) }
                await sweep(.rows) { try await store.sweepDiscards() }
                await sweep(.files) { try await store.sweepRemovals() }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func sweep(_ kind: SweepMetrics.Kind, _ run: () async throws -> Int) async {
        do {
            let swept = try await run()
            metrics.swept(kind, count: swept)
            if swept > 0 { Log.write("\(kind.rawValue) swept", ["count": "\(swept)"]) }
        } catch {
            metrics.failed(kind)
            Log.write("sweep failed", ["of": "\(kind.rawValue)", "error": "\(error)"], level: .error)
        }
    }

    private func report() {
        let reconciliation = store.reconciliation
        if reconciliation.isForeign {
            Log.write(
                "store and database differ in age",
                [
                    "consequence": "nothing is swept; was an older backup of one restored beside the other?",
                    "remedy": "data-gateway doctor",
                ], level: .warning)
        }
        for failure in reconciliation.failures {
            Log.write("part of the store could not be examined", ["error": failure], level: .error)
        }
        if reconciliation.failureCount > reconciliation.failures.count {
            let count = reconciliation.failureCount - reconciliation.failures.count
            Log.write("more of the store could not be examined", ["count": "\(count)"], level: .error)
        }
        guard reconciliation.removed + reconciliation.quarantined + reconciliation.lost > 0 else { return }
        Log.write(
            "store put in order",
            [
                "removed": "\(reconciliation.removed)", "quarantined": "\(reconciliation.quarantined)",
                "lost": "\(reconciliation.lost)",
            ])
    }
}
