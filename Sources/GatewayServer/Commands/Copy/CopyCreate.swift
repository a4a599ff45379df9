import CommandLineInterface
import Proto

/// `data-gateway copy create`
struct CopyCreate: ClientCommand {
    static let name = "create"
    static let summary = "Copy objects to a folder or bucket in the gateway's configuration"
    static let discussion = [
        """
        --to is a bucket's endpoint, with --bucket, or file:///PATH for a folder on the gateway's machine. The gateway \
        copies the objects: the command returns as soon as the job is stored; 'copy show' shows its progress.
        """
    ]
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .arguments("FILE_ID", \.fileIDs, "The file ids of the objects to copy, as printed by ls"),
            .option("--to", "URL", \.endpoint, "The destination: https://HOST or file:///PATH", isRequired: true),
            .option("--bucket", "NAME", \.bucket, "The destination's bucket"),
            .option("--region", "NAME", \.region, "The bucket's region (default: the configured region)"),
            .option("--key", "TEMPLATE", \.template, "The key of each copy (default: {file_id})"),
            .option(
                "--idempotency-key", "TEXT", \.idempotencyKey, "A repeated call with the same key returns the same job"),
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
