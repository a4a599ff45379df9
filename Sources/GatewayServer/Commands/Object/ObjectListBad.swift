import CommandLineInterface
import Proto

/// `data-gateway object list-bad`
struct ObjectListBad: ClientCommand {
    static let name = "list-bad"
    static let summary = "List the objects whose bytes are no more what was verified"

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
