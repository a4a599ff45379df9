import CommandLineInterface
import Proto

/// `data-gateway copy create`
struct CopyCreate: ClientCommand {
    static let name = "create"
    static let summary = "Copy objects to a folder or a bucket that the gateway's configuration lists"
    static let discussion = [
        """
        --to is a bucket's endpoint, with --bucket, or file:///PATH for a folder of the gateway's machine. The gateway does \
        the work: the command returns as soon as the job is written down; look after it with copy show.
        """
    ]
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .arguments("FILE_ID", \.fileIDs, "What to copy, as ls has it"),
            .option("--to", "URL", \.endpoint, "Where to: https://HOST, or file:///PATH", isRequired: true),
            .option("--bucket", "NAME", \.bucket, "The bucket there"),
            .option("--region", "NAME", \.region, "Its region (default: the configured one)"),
            .option("--key", "TEMPLATE", \.template, "What each object is called there (default: {file_id})"),
            .option("--idempotency-key", "TEXT", \.idempotencyKey, "The same text gives the same job again"),
        ] + connectionParameters
    }

    var fileIDs: [String] = []
    var endpoint = ""
    var bucket = ""
    var region = ""
    var template = ""
    var idempotencyKey = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DataGatewayCopyServiceClient(gateway).createCopyJob(
                CreateCopyJobRequest(
                    fileIDs: fileIDs,
                    destination: CopyDestination(
                        bucket: bucket, endpoint: endpoint, region: region, keyTemplate: template),
                    idempotencyKey: idempotencyKey)))
    }
}
