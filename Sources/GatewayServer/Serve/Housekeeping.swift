import Accounts
import ObjectStore
import Platform
import Uploads

/// What is done once a minute while the gateway serves: writing what is written late, and removing what uploads left
/// behind.
struct Housekeeping: Sendable {
    private static let interval = Duration.seconds(60)

    let accounts: Accounts
    let uploads: Uploads
    let reconciliation: StoreReconciliation

    /// Says what the start found out of order, then works until its task is cancelled.
    func run() async {
        report()
        while !Task.isCancelled {
            accounts.deferred.flush(at: SystemClock().now())
            // Over a store that the database is too old for, nothing may be removed: it may be the only copy.
            if !reconciliation.isForeign { await sweep() }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func sweep() async {
        do {
            let swept = try await uploads.sweep()
            if swept > 0 { Log.write("uploads swept", ["count": "\(swept)"]) }
        } catch {
            Log.write("sweep failed", ["error": "\(error)"])
        }
    }

    private func report() {
        if reconciliation.isForeign {
            Log.write(
                "store and database differ in age",
                ["consequence": "nothing is swept; was an older backup of one restored beside the other?"])
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
