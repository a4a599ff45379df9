import Accounts
import Basics
import Catalog
import Database
import GatewayAPI
import ObjectStore
import Proto
import RPC

/// The rules of uploads that users make for their sites. They are uploads of the site itself, so everything that holds for those
/// holds for them; what differs is the party: a user whose credentials end with their access.
struct SiteUploads: Sendable {
    /// The size of a part in bytes, unless the file needs larger ones. Browsers repeat whole parts after an interruption.
    private static let partSize: Int64 = 8 << 20
    private static let mostParts: Int64 = 10_000
    /// The largest file in bytes: 48 TiB.
    private static let largestFile: Int64 = 48 << 40

    /// The stored data of an upload.
    struct Progress: Sendable {
        let upload: UploadRecord
        /// TERMINAL also for an upload whose session has ended.
        let status: LogicalUploadStatus
        /// The whole object; `nil` = not all bytes are stored.
        let object: StoredObject?
        /// The open multipart upload with the most parts; `nil` = none.
        let multipartID: String?
        let parts: [PartRecord]
        /// The published object's file id; `nil` = not published, or deleted since.
        let fileID: String?
    }

    let sessions: UploadSessions

    /// Begins an upload, or returns the one that an earlier call with the key began.
    func begin(
        site siteID: Int64, file: UploadHints, key: IdempotencyKey?, by user: Caller
    ) async throws -> UploadSessions.Issued {
        let size = file.fileSize ?? 0
        guard (0...Self.largestFile).contains(size) else {
            throw RPCError.invalidArgument("file_size_bytes must be 0 to \(Self.largestFile)")
        }
        let organizationID = user.organization.id
        try await sessions.database.read { connection in
            try Self.requireEnabledSite(siteID, organizationID: organizationID, in: connection)
        }
        let caller = UploadCaller(user, siteID: siteID, organizationID: organizationID)
        return try await sessions.issuing(partSize: partSize(forFile: size)).begin(for: caller, key: key, hints: file)
    }

    /// Issues new credentials for an upload.
    func reissue(_ uploadID: String, by user: Caller) async throws -> UploadSessions.Issued {
        try await sessions.reissue(uploadID, for: try await caller(for: uploadID, by: user))
    }

    /// - Returns: the published object's file id; empty if it was deleted since.
    func complete(_ uploadID: String, _ claim: CompletionClaim, by user: Caller) async throws -> String {
        try await sessions.complete(uploadID, claim, for: try await caller(for: uploadID, by: user))
    }

    /// Returns what is stored. Runs off the event loops, because it reads up to 10,000 parts.
    func progress(of uploadID: String, for user: UserPrincipal) async throws -> Progress {
        try await sessions.database.readInBackground { [sessions] connection in
            let upload = try Self.visible(UploadRecords(connection).upload(uploadID), to: user)
            let stored = try sessions.store.snapshot(uploadID: upload.id, in: connection)
            let decision = try sessions.decision(upload, in: connection)
            let canContinue = upload.state != .superseded && decision.canRefreshCredentials
            let multipart = stored.multiparts.max { $0.partCount < $1.partCount }
            return Progress(
                upload: upload, status: canContinue ? decision.status : .terminal, object: stored.object,
                multipartID: multipart?.id,
                parts: try multipart.map { try sessions.store.parts(of: $0.id, in: connection) } ?? [],
                fileID: try ObjectRecords(connection).object(uploadID: upload.id)?.fileID)
        }
    }

    /// Returns the part size in bytes for a file, at most the configured one unless the file would have too many parts.
    private func partSize(forFile size: Int64) -> Int64 {
        let usual = min(Self.partSize, sessions.configuration.partSize)
        let needed = (size + Self.mostParts - 1) / Self.mostParts
        let unit: Int64 = 1 << 20
        return max(usual, needed <= usual ? usual : (needed + unit - 1) / unit * unit)
    }

    private func caller(for uploadID: String, by user: Caller) async throws -> UploadCaller {
        let upload = try await sessions.database.read { connection in
            let upload = try Self.visible(UploadRecords(connection).upload(uploadID), to: user.user)
            try Self.requireEnabledSite(
                upload.owner.siteID, organizationID: upload.owner.organizationID, in: connection)
            return upload
        }
        return UploadCaller(user, siteID: upload.owner.siteID, organizationID: upload.owner.organizationID)
    }

    private static func requireEnabledSite(
        _ siteID: Int64, organizationID: Int64, in connection: ReadConnection
    ) throws {
        switch try Accounts.isSiteEnabled(siteID, organizationID: organizationID, in: connection) {
        case nil: throw RPCError.notFound("site \(siteID) does not exist")
        case false?: throw RPCError.failedPrecondition("site \(siteID) is disabled")
        case true?: break
        }
    }

    /// - Throws: UPLOAD_NOT_FOUND for an upload that does not exist or that the user does not see, UPLOAD_NOT_OWNED for a device's.
    private static func visible(_ upload: UploadRecord?, to user: UserPrincipal) throws(RPCError) -> UploadRecord {
        guard let upload, user.objectScope == nil || user.objectScope == upload.owner.organizationID else {
            throw RPCError(.uploadNotFound, "the upload does not exist")
        }
        guard upload.owner.deviceID == nil else {
            throw RPCError(.uploadNotOwned, "the upload belongs to a device")
        }
        return upload
    }
}

extension GetSiteUploadResponse {
    init(_ progress: SiteUploads.Progress) {
        let upload = progress.upload
        self.init(
            logicalUploadID: upload.logicalID, uploadID: upload.id, siteID: upload.owner.siteID,
            status: progress.status,
            partSizeBytes: upload.location.partSize, multipartUploadID: progress.multipartID ?? "",
            parts: progress.parts.map { StoredUploadPart(number: Int32(clamping: $0.number), sizeBytes: $0.size) },
            ossObjectEtag: progress.object?.etag ?? "",
            completedPartCount: Int32(clamping: progress.object?.partCount ?? 0), fileID: progress.fileID ?? "")
    }
}

extension CompletionClaim {
    init(_ request: CompleteSiteUploadRequest) {
        self.init(
            size: request.fileSizeBytes, etag: request.ossObjectEtag, partCount: request.completedPartCount,
            partSize: 0, tags: request.rawTags)
    }
}

extension UploadHints {
    /// - Throws: INVALID_ARGUMENT if nothing of the file's name can be kept, or for a path that breaks the rule of ``RelativePath``.
    init(_ request: CreateSiteUploadRequest) throws(RPCError) {
        guard let name = FileName(request.fileName) else {
            throw .invalidArgument("file_name must have characters that a file name can have")
        }
        self.init(
            fileName: name, relativePath: try Self.path(request.relativePath, field: "relative_path"),
            fileSize: request.fileSizeBytes, recordedFrom: nil, recordedTo: nil)
    }
}
