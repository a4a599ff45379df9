import Accounts
import Basics
import Proto
import RPC
import Wire

/// The gRPC service ObjectArchiveService, which converts messages and calls the rules.
struct ObjectArchiveService: ObjectArchiveServiceHandler {
    let archives: ObjectArchives
    let clock: any WallClock

    func zipObjects(
        _ request: ZipObjectsRequest, responses: ResponseWriter<HttpBody>, context: CallContext
    ) async throws {
        let time = RFC3339.text(UnixTime(seconds: clock.now().seconds)).map { $0 == ":" ? "-" : $0 }
        context.responseMetadata.append(
            name: "content-disposition", value: "attachment; filename=\"objects-\(String(time)).zip\"")
        let contentType = "application/zip"
        try await archives.make(of: request.fileIDs, filter: request.filter, by: try Caller(context)) { pieces in
            context.responseLength = try await pieces.length()
            if try await context.send(pieces, as: contentType) { return }
            try await pieces.forEachPiece { try await responses.write(HttpBody(contentType: contentType, data: $0)) }
        }
    }
}
