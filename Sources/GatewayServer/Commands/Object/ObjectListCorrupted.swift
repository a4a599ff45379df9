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
            }, things: "corrupted objects")
    }
}
