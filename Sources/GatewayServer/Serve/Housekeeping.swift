import Accounts
import Catalog
import ObjectStore
import Uploads

/// What is done once a minute while the gateway serves: writing what is written late, and removing what is past its time.
struct Housekeeping: Sendable {
    private static let interval = Duration.seconds(60)

    let accounts: Accounts
    let uploads: Uploads
    let catalog: Catalog
    let store: ObjectStore
    let metrics: SweepMetrics

    /// Says what the start found out of order, then works until its task is cancelled.
    func run() async {
        report()
        while !Task.isCancelled {
            await sweep(.auditLines) { try await accounts.tidy() }
            // Over a store that the database is too old for, nothing may be removed: it may be the only copy.
            if !store.reconciliation.isForeign {
                await sweep(.uploads) { try await uploads.sweep() }
                await sweep(.objects) { try await catalog.applyRetention() }
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
            Log.write("sweep failed", ["of": "\(kind.rawValue)", "error": "\(error)"])
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
                ])
        }
        let counts = [
            ("removed", reconciliation.removed), ("quarantined", reconciliation.quarantined),
            ("lost", reconciliation.lost),
        ].filter { $0.1 > 0 }
        if !counts.isEmpty {
            Log.write("store put in order", Dictionary(uniqueKeysWithValues: counts.map { ($0.0, "\($0.1)") }))
        }
    }
}
