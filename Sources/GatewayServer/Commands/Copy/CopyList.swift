import CommandLineInterface
import Proto

/// `data-gateway copy list`
struct CopyList: ClientCommand {
    static let name = "list"
    static let summary = "List copy jobs, newest first"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = CopyManagementServiceClient(gateway)
        return Reply(
            "jobs",
            try await Pages.all { token in
                let page = try await service.listCopyJobs(
                    ListCopyJobsRequest(pageSize: Pages.size, pageToken: token))
                return (page.jobs, page.nextPageToken)
            }, things: "copy jobs")
    }
}
