import Basics
import Catalog
import ObjectStore
import Proto

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
    /// - Returns: `nil` if nothing of the file's name can be kept.
    init?(_ request: CreateSiteUploadRequest) {
        guard let name = FileName(request.fileName) else { return nil }
        self.init(fileName: name, fileSize: request.fileSizeBytes, recordedFrom: nil, recordedTo: nil)
    }
}
