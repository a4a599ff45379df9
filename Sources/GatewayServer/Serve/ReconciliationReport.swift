import Basics
import ObjectStore

/// Logs the progress and the results of comparing the store with the database after an unclean shutdown.
struct ReconciliationReport: Sendable {
    private static let interval = Duration.seconds(10)

    let store: ObjectStore
    let log: Logger

    /// Returns when the comparison has finished or was stopped.
    func run() async {
        guard !store.isForeign else {
            return log.write(
                "the database and the store were not last used together",
                [
                    "consequence": "nothing is deleted; one of them may have been restored from an older backup",
                    "hint": "stop the gateway and run data-gateway doctor",
                ], level: .warning)
        }
        guard store.isReconciled else { return }
        log.write(
            "comparing the store with the database",
            ["why": "this is the first start, or the last shutdown was unclean"])
        let progress = Task {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                log.write(
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
            log.write("a part of the store could not be examined", ["error": failure], level: .error)
        }
        if found.failureCount > found.failures.count {
            let count = found.failureCount - found.failures.count
            log.write("more parts of the store could not be examined", ["count": "\(count)"], level: .error)
        }
        guard found.removed + found.quarantined + found.lost > 0 else { return }
        log.write(
            "the store was reconciled with the database",
            ["removed": "\(found.removed)", "quarantined": "\(found.quarantined)", "lost": "\(found.lost)"])
    }
}
