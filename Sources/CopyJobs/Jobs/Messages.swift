import Basics
import Catalog
import Crypto
import GatewayAPI
import Proto
import Protobuf
import RPC

extension CopyOrder {
    /// - Parameters:
    ///   - limit: the largest number of files.
    ///   - otherKey: the idempotency key if the request has none; `nil` = none.
    /// - Throws: INVALID_ARGUMENT that names the field.
    init(_ request: CreateCopyJobRequest, limit: Int, otherKey: String?) throws(RPCError) {
        try FileIDs.check(request.fileIDs, limit: limit)
        let key = request.idempotencyKey.isEmpty ? otherKey : request.idempotencyKey
        if let key { try FieldRules.title(key, field: "idempotency_key") }
        guard let destination = request.destination else { throw .invalidArgument("destination must be set") }
        var content = request
        content.idempotencyKey = ""
        self.init(
            fileIDs: request.fileIDs, place: try CopyPlace(destination),
            template: KeyTemplate(destination.keyTemplate), idempotencyKey: key,
            digest: Digest.sha256(content.encoded(canonical: true)))
    }
}

extension CopyJobStatus {
    init(_ state: CopyJobState) {
        self.init(rawValue: Int32(clamping: state.rawValue))
    }
}

extension CopyItemState {
    /// Returns `nil` for an unknown state.
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
