import Basics
import Proto

extension CopyJobStatus {
    init(_ state: CopyJobState) {
        self.init(rawValue: Int32(clamping: state.rawValue))
    }
}

extension CopyItemState {
    /// `nil` for what is no state.
    init?(_ status: CopyItemStatus) {
        self.init(rawValue: Int64(status.rawValue))
    }
}

extension CopyJobView {
    init(_ job: CopyJob, _ tally: CopyTally) {
        self.init(
            copyJobID: job.id, status: CopyJobStatus(job.state),
            destination: CopyDestination(
                bucket: job.place.bucket, endpoint: job.place.endpoint, region: job.place.region,
                keyTemplate: job.template.text),
            totalItems: Int32(clamping: job.items), completedItems: Int32(clamping: tally[.succeeded]),
            failedItems: Int32(clamping: tally[.failed]), skippedItems: Int32(clamping: tally[.skipped]),
            totalBytes: job.size, copiedBytes: tally.copiedBytes, createdAtUnix: job.createdAt.seconds,
            startedAtUnix: job.startedAt?.seconds ?? 0, finishedAtUnix: job.finishedAt?.seconds ?? 0,
            terminalReason: job.reason)
    }
}

extension CopyJobItemView {
    init(_ item: CopyItem) {
        self.init(
            fileID: item.fileID, destinationObjectKey: item.key,
            status: CopyItemStatus(rawValue: Int32(clamping: item.state.rawValue)), sourceSize: item.size,
            copiedBytes: item.copiedBytes, errorCode: item.errorCode, errorMessage: item.errorMessage)
    }
}
