import CommandLineInterface
import Proto

/// `data-gateway object list-corrupted`
struct ObjectListCorrupted: ClientCommand {
    static let name = "list-corrupted"
    static let formerName: String? = "list-bad"
    static let summary = "List corrupted objects, whose bytes no longer match their checksum"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        return Reply(
            "objects",
            try await Pages.all { token in
                let page = try await service.listBadObjects(
                    ListBadObjectsRequest(pageSize: Pages.size, pageToken: token))
                return (page.objects, page.nextPageToken)
            })
    }
}

extension DataObject: Resource {
    package static let columns = ["file_id", "status", "size_bytes", "verified_at_unix"]

    package var fields: [ResourceField] {
        [
            .text("object_id", objectID), .text("file_id", fileID),
            .text("status", "DATA_OBJECT_STATUS_\("\(status)".uppercased())", shownAs: "\(status)"),
            .number("size_bytes", sizeBytes), .number("created_at_unix", createdAtUnix),
            .number("uploaded_at_unix", uploadedAtUnix), .number("verified_at_unix", verifiedAtUnix),
            .text("etag", etag),
        ]
    }
}
