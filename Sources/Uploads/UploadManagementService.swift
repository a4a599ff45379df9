import Accounts
import GatewayAPI
import Proto
import RPC

/// The gRPC service UploadManagementService, which converts messages and calls the rules.
struct UploadManagementService: UploadManagementServiceHandler {
    let listing: UploadListing
    let cancellation: UploadCancellation
    let tokens: PageTokens

    func listUploads(_ request: ListUploadsRequest, context: CallContext) async throws -> ListUploadsResponse {
        let user = try context.user
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "uploads of \(user.objectScope.map(String.init) ?? "all") for \(user.userID)")
        let (uploads, end) = try await listing.page(page, for: user)
        return ListUploadsResponse(
            uploads: uploads.map(UploadUnderWay.init), nextPageToken: end.map { page.token(after: $0) } ?? "")
    }

    func cancelUpload(_ request: CancelUploadRequest, context: CallContext) async throws -> CancelUploadResponse {
        guard !request.logicalUploadID.isEmpty else {
            throw RPCError.invalidArgument("logical_upload_id is missing")
        }
        let upload = try await cancellation.cancel(
            request.logicalUploadID, reason: request.reason, by: try Caller(context))
        return CancelUploadResponse(logicalUploadID: upload.logicalID, uploadID: upload.id)
    }
}

extension UploadUnderWay {
    init(_ entry: UploadListing.Entry) {
        let record = entry.record
        self.init(
            logicalUploadID: record.logicalID, uploadID: record.id, deviceID: record.deviceID ?? "",
            siteID: record.siteID, storedBytes: record.stored, partCount: Int32(clamping: entry.partCount),
            partSizeBytes: record.partSize, isWhole: entry.isWhole, createdAt: Timestamp(record.createdAt),
            sessionEndsAt: Timestamp(entry.sessionEndsAt), fileName: record.hints.fileName?.text ?? "",
            fileSizeBytes: record.hints.fileSize ?? 0)
    }
}
