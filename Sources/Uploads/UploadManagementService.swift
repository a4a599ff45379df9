import Accounts
import Basics
import GatewayAPI
import Proto
import RPC

/// The gRPC service UploadManagementService, which converts messages and calls the rules.
struct UploadManagementService: UploadManagementServiceHandler {
    let listing: UploadListing
    let failures: FailedUploadListing
    let cancellation: UploadCancellation
    let siteUploads: SiteUploads
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

    func listFailedUploads(
        _ request: ListFailedUploadsRequest, context: CallContext
    ) async throws -> ListFailedUploadsResponse {
        let user = try context.user
        let filter = try FailedUploadFilter(request, for: user)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "failed uploads for \(user.userID): \(filter.scope)")
        let position = try page.cursor { FailurePosition($0) } ?? .before(filter.until)
        let (uploads, end) = try await failures.page(filter, after: position, size: page.size, for: user)
        return ListFailedUploadsResponse(
            uploads: uploads.map(FailedUpload.init), nextPageToken: end.map { page.token(after: $0.text) } ?? "")
    }

    func cancelUpload(_ request: CancelUploadRequest, context: CallContext) async throws -> CancelUploadResponse {
        guard !request.logicalUploadID.isEmpty else {
            throw RPCError.invalidArgument("logical_upload_id is missing")
        }
        let upload = try await cancellation.cancel(
            request.logicalUploadID, reason: request.reason, by: try Caller(context))
        return CancelUploadResponse(logicalUploadID: upload.logicalID, uploadID: upload.id)
    }

    func createSiteUpload(
        _ request: CreateSiteUploadRequest, context: CallContext
    ) async throws -> CreateSiteUploadResponse {
        let issued = try await siteUploads.begin(
            site: request.siteID, file: try UploadHints(request),
            key: try IdempotencyKey(request.idempotencyKey, else: context.balancedKey), by: try Caller(context))
        return CreateSiteUploadResponse(
            logicalUploadID: issued.upload.logicalID, uploadID: issued.upload.id,
            credentials: UploadCredentials(issued))
    }

    func getSiteUpload(_ request: GetSiteUploadRequest, context: CallContext) async throws -> GetSiteUploadResponse {
        GetSiteUploadResponse(try await siteUploads.progress(of: request.uploadID, for: try context.user))
    }

    func issueSiteUploadCredentials(
        _ request: IssueSiteUploadCredentialsRequest, context: CallContext
    ) async throws -> IssueSiteUploadCredentialsResponse {
        let issued = try await siteUploads.reissue(request.uploadID, by: try Caller(context))
        return IssueSiteUploadCredentialsResponse(credentials: UploadCredentials(issued))
    }

    func completeSiteUpload(
        _ request: CompleteSiteUploadRequest, context: CallContext
    ) async throws -> CompleteSiteUploadResponse {
        let fileID = try await siteUploads.complete(
            request.uploadID, CompletionClaim(request), by: try Caller(context))
        return CompleteSiteUploadResponse(fileID: fileID)
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
            fileSizeBytes: record.hints.fileSize ?? 0, organization: entry.organization)
    }
}
