import CommandLineInterface
import Proto

/// `data-gateway copy cancel`
struct CopyCancel: ClientCommand {
    static let name = "cancel"
    static let summary = "Cancel what a copy job has not copied yet"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .argument("COPY_JOB_ID", \.jobID, "As copy create printed it"),
            .option("--reason", "TEXT", \.reason, "Why; kept with the job"),
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
