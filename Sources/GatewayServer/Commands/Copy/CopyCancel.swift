import CommandLineInterface
import Proto

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
