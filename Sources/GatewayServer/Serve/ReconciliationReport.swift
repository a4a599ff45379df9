import ObjectStore
import Observability

/// Says in the log how far the store was compared with the database after an unclean end, and what was found.
struct ReconciliationReport: Sendable {
    private static let interval = Duration.seconds(10)

    let store: ObjectStore

    /// Returns when the comparison has finished or was stopped.
    func run() async {
        guard !store.isForeign else {
            return Log.write(
                "store and database differ in age",
                [
                    "consequence": "nothing is swept; was an older backup of one restored beside the other?",
                    "hint": "data-gateway doctor",
                ], level: .warning)
        }
        guard store.isReconciled else { return }
        Log.write("comparing the store with the database", ["why": "there was no clean stop"])
        let progress = Task {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                Log.write(
                    "comparing the store with the database", ["folders_left": "\(store.foldersToReconcile) of 256"])
            }
        }
        await store.finishReconciliation()
        progress.cancel()
        reportFindings()
    }

    private func reportFindings() {
        let found = store.reconciliation
        for failure in found.failures {
            Log.write("part of the store could not be examined", ["error": failure], level: .error)
        }
        if found.failureCount > found.failures.count {
            let count = found.failureCount - found.failures.count
            Log.write("more of the store could not be examined", ["count": "\(count)"], level: .error)
        }
        guard found.removed + found.quarantined + found.lost > 0 else { return }
        Log.write(
            "store put in order",
            ["removed": "\(found.removed)", "quarantined": "\(found.quarantined)", "lost": "\(found.lost)"])
    }
}
