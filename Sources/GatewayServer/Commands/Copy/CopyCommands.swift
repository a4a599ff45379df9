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

/// `data-gateway copy show`
struct CopyShow: ClientCommand {
    static let name = "show"
    static let summary = "Show a copy job's progress"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [.argument("COPY_JOB_ID", \.jobID, "The copy job's id, as printed by copy create")] + connectionParameters
    }

    var jobID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await DataGatewayCopyServiceClient(gateway).getCopyJob(GetCopyJobRequest(copyJobID: jobID))
        return Reply(try reply.job.present("job"))
    }
}

/// `data-gateway copy items`
struct CopyItems: ClientCommand {
    static let name = "items"
    static let summary = "List the objects of a copy job with their states"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .argument("COPY_JOB_ID", \.jobID, "The copy job's id, as printed by copy create"),
            .repeated(
                "--status", "STATUS", \.statuses,
                "List only items with this state: \(CopyItemChoice.allCases.map(\.rawValue).joined(separator: ", "))"),
        ] + connectionParameters
    }

    var jobID = ""
    var statuses: [CopyItemChoice] = []
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = DataGatewayCopyServiceClient(gateway)
        return Reply(
            "items",
            try await Pages.all { token in
                let page = try await service.listCopyJobItems(
                    ListCopyJobItemsRequest(
                        copyJobID: jobID, statuses: statuses.map(\.status), pageSize: Pages.size, pageToken: token))
                return (page.items, page.nextPageToken)
            })
    }
}

/// A state of an item, as typed on the command line.
enum CopyItemChoice: String, ArgumentChoice {
    case queued
    case copying
    case succeeded
    case failed
    case skipped
    case canceled

    var status: CopyItemStatus {
        switch self {
        case .queued: .queued
        case .copying: .copying
        case .succeeded: .succeeded
        case .failed: .failedTerminal
        case .skipped: .skipped
        case .canceled: .canceled
        }
    }
}

/// `data-gateway copy cancel`
struct CopyCancel: ClientCommand {
    static let name = "cancel"
    static let summary = "Cancel a copy job; finished copies stay"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .argument("COPY_JOB_ID", \.jobID, "The copy job's id, as printed by copy create"),
            .option("--reason", "TEXT", \.reason, "The reason, kept with the job"),
        ] + connectionParameters
    }

    var jobID = ""
    var reason = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DataGatewayCopyServiceClient(gateway).cancelCopyJob(
                CancelCopyJobRequest(copyJobID: jobID, reason: reason)))
    }
}
