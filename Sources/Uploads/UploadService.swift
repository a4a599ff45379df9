import Accounts
import Basics
import Crypto
import Proto
import RPC
import StoreProtocol

/// The gRPC service DataGatewayService, which converts messages and calls the rules.
struct UploadService: DataGatewayServiceHandler {
    let sessions: UploadSessions

    private var storedFiles: StoredFiles {
        StoredFiles(
            database: sessions.database, clock: sessions.clock, retention: sessions.configuration.recordRetention)
    }

    func createLogicalUpload(
        _ request: CreateLogicalUploadRequest, context: CallContext
    ) async throws -> CreateLogicalUploadResponse {
        let caller = UploadCaller(try KeyCaller(context))
        let key = try IdempotencyKey(hints: request.clientHints, else: context.balancedKey)
        let issued =
            request.restartFromUploadID.isEmpty
            ? try await sessions.begin(for: caller, key: key, hints: try UploadHints(request.clientHints))
            : try await sessions.restart(from: request.restartFromUploadID, for: caller, key: key)
        return CreateLogicalUploadResponse(
            logicalUploadID: issued.upload.logicalID, uploadID: issued.upload.id,
            credentials: UploadCredentials(issued))
    }

    func getUploadRecovery(
        _ request: GetUploadRecoveryRequest, context: CallContext
    ) async throws -> GetUploadRecoveryResponse {
        GetUploadRecoveryResponse(
            try await sessions.recovery(of: request.logicalUploadID, for: UploadCaller(try KeyCaller(context))))
    }

    func reissueUploadCredentials(
        _ request: ReissueUploadCredentialsRequest, context: CallContext
    ) async throws -> ReissueUploadCredentialsResponse {
        let issued = try await sessions.reissue(request.uploadID, for: UploadCaller(try KeyCaller(context)))
        return ReissueUploadCredentialsResponse(
            logicalUploadID: issued.upload.logicalID, uploadID: issued.upload.id,
            credentials: UploadCredentials(issued))
    }

    func abortUpload(_ request: AbortUploadRequest, context: CallContext) async throws -> AbortUploadResponse {
        let upload = try await sessions.abort(
            request.logicalUploadID, reason: request.reason, for: UploadCaller(try KeyCaller(context)))
        return AbortUploadResponse(logicalUploadID: upload.logicalID, uploadID: upload.id)
    }

    func completeUpload(_ request: CompleteUploadRequest, context: CallContext) async throws -> CompleteUploadResponse {
        let claim = CompletionClaim(
            size: request.fileSize, etag: request.ossObjectEtag, partCount: request.completedPartCount,
            partSize: request.partSizeBytes, tags: request.rawTags)
        let fileID = try await sessions.complete(request.uploadID, claim, for: UploadCaller(try KeyCaller(context)))
        return CompleteUploadResponse(fileID: fileID)
    }

    func findStoredFiles(
        _ request: FindStoredFilesRequest, context: CallContext
    ) async throws -> FindStoredFilesResponse {
        try await storedFiles.find(request.files, of: UploadCaller(try KeyCaller(context)).owner)
    }
}

extension UploadCredentials {
    init(_ issued: UploadSessions.Issued) {
        let location = issued.upload.location
        self.init(
            bucket: location.bucket, endpoint: location.endpoint, objectKey: location.key,
            stsAccessKeyID: issued.credentials.accessKeyID, stsAccessKeySecret: issued.credentials.secret.exposedText,
            stsSecurityToken: issued.credentials.securityToken, stsExpireAtUnix: issued.credentials.expiresAt.seconds,
            partSizeBytes: location.partSize, objectStoreBackend: location.backend,
            objectStoreRegion: location.region)
    }
}

extension GetUploadRecoveryResponse {
    init(_ recovery: UploadSessions.Recovery) {
        let upload = recovery.upload
        self.init(
            logicalUploadID: upload.logicalID, logicalUploadStatus: recovery.decision.status,
            currentUploadID: upload.id, bucket: upload.location.bucket, endpoint: upload.location.endpoint,
            objectKey: upload.location.key, canRefreshCredentials: recovery.decision.canRefreshCredentials,
            restartAllowed: recovery.decision.isRestartAllowed, terminalReason: upload.abortReason ?? "",
            credentialRefreshCount: Int32(clamping: upload.refreshCount),
            sessionExpireAtUnix: recovery.sessionEndsAt.seconds, nextAction: recovery.decision.action,
            completedPartCount: Int32(clamping: recovery.object?.partCount ?? 0),
            ossObjectEtag: recovery.object?.etag ?? "")
    }
}
