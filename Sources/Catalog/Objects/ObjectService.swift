import Accounts
import Basics
import GatewayFormats
import Proto
import RPC
import StoreProtocol

/// The gRPC service DataGatewayObjectService, which converts messages and calls the rules.
struct ObjectService: DataGatewayObjectServiceHandler {
    let listing: ObjectListing
    let downloads: Downloads

    func listObjects(_ request: ListObjectsRequest, context: CallContext) async throws -> ListObjectsResponse {
        let (objects, token) = try await listing.page(request, for: try context.user)
        return ListObjectsResponse(objects: objects.map(DataObject.init), nextPageToken: token)
    }

    func requestDownload(
        _ request: RequestDownloadRequest, context: CallContext
    ) async throws -> RequestDownloadResponse {
        guard request.purpose == .unspecified || request.purpose == .view else {
            throw RPCError.invalidArgument("purpose must be 0 or 1, or the name of a purpose")
        }
        let download = try await downloads.request(
            request.fileIDs, lifetime: request.lifetimeSeconds, isView: request.purpose == .view,
            by: try Caller(context))
        return RequestDownloadResponse(
            files: download.files.map { file in
                DownloadObjectLocation(
                    fileID: file.object.fileID,
                    read: PresignedOperation(method: file.request.method, uri: file.request.url),
                    name: file.name.text, sizeBytes: file.object.content.size,
                    crc64Ecma: file.object.description.crc64.map { String($0) } ?? "",
                    relativePath: file.object.description.relativePath?.text ?? "")
            },
            expiresAtUnix: download.expiresAt.seconds,
            largeFileThresholdBytes: downloads.configuration.largeFileThreshold,
            rangePartSizeBytes: downloads.configuration.rangePartSize)
    }
}
