import CommandLineInterface
import Proto

/// `data-gateway object operation list`
struct OperationList: ClientCommand {
    static let name = "list"
    static let summary = "List deletions and restorations by filter, newest first"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        return Reply(
            "operations",
            try await Pages.all { token in
                let page = try await service.listObjectOperations(
                    ListObjectOperationsRequest(pageSize: Pages.size, pageToken: token))
                return (page.operations, page.nextPageToken)
            })
    }
}
