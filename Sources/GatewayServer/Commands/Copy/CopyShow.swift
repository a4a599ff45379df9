import CommandLineInterface
import Proto

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
