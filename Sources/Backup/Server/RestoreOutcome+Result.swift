import Accounts
import Basics
import Proto

extension RestoreOutcome {
    init(_ result: RestoreResult) {
        self.init(
            finishedAt: Timestamp(UnixTime(seconds: result.finishedAt)),
            backupTime: result.createdAt.flatMap { RFC3339.parse($0) }.map { Timestamp($0.time) },
            failure: result.failure ?? "", objects: Int64(result.objects), missingObjects: Int64(result.missing),
            damagedObjects: Int64(result.damaged), quarantinedFiles: Int64(result.quarantined),
            requestedBy: result.requestedBy)
    }
}
