import CommandLineInterface
import Proto

/// `data-gateway trash list`
struct TrashList: ClientCommand {
    static let name = "list"
    static let summary = "List the objects in the trash"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILTER", \.filter, "List only objects that match the filter of ls", isRequired: false)
                .allowingEmpty()
        ] + connectionParameters
    }

    var filter = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = DataGatewayObjectServiceClient(gateway)
        let trashed = filter.isEmpty ? "trashed=true" : "trashed=true (\(filter))"
        return Reply(
            "objects",
            try await Pages.all { token in
                let page = try await service.listObjects(
                    ListObjectsRequest(pageSize: Pages.size, pageToken: token, filter: trashed))
                return (page.objects.map(TrashedObject.init), page.nextPageToken)
            }, things: "objects in the trash\(NameSearch.advice(for: filter))")
    }
}

/// An object in the trash, for `trash list`.
struct TrashedObject: Resource {
    static let columns = ["name", "size_bytes", "device_id", "trashed_at", "file_id"]
    static let expendableColumns = ["file_id", "device_id"]

    let object: DataObject

    var fields: [ResourceField] { object.fields }
}
