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
        """,
        """
        --key makes the path of each copy of placeholders: \(DownloadTemplate.placeholders). Without it, files of \
        an uploaded folder that a filter finds keep their paths, as with 'download'. If another file has the path, the \
        file id is added. Existing copies of the same object are skipped.
        """,
    ]
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .arguments("OBJECT", \.objects, "The objects: file ids, names or filters"),
            .option("--to", "URL", \.endpoint, "The destination: https://HOST or file:///PATH", isRequired: true),
            .option("--bucket", "NAME", \.bucket, "The destination's bucket"),
            .option("--region", "NAME", \.region, "The bucket's region (default: the configured region)"),
            .option(
                "--key", "TEMPLATE", \.template,
                "The path of each copy (default: \(Self.defaultTemplate); of a folder: \(Self.folderTemplate))"),
            .option(
                "--idempotency-key", "TEXT", \.idempotencyKey, "A repeated call with the same key returns the same job"),
        ] + connectionParameters
    }

    static let defaultTemplate = "{device}/{date}/{name}"
    /// The default if a filter finds files of a folder.
    static let folderTemplate = "{device}/{date}/{path}"

    var objects: [String] = []
    var endpoint = ""
    var bucket = ""
    var region = ""
    var template: String?
    var idempotencyKey = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        var (wanted, seen): ([DownloadSource.Wanted], Set<String>) = ([], [])
        let source = gateway.lookup(connection).source
        for object in objects {
            wanted += try await source.find(object, needsDetails: false).filter { seen.insert($0.id).inserted }
        }
        let template = template ?? (wanted.contains(where: \.hasPath) ? Self.folderTemplate : Self.defaultTemplate)
        return Reply(
            try await DataGatewayCopyServiceClient(gateway).createCopyJob(
                CreateCopyJobRequest(
                    fileIDs: wanted.map(\.id),
                    destination: CopyDestination(
                        bucket: bucket, endpoint: endpoint, region: region, keyTemplate: template),
                    idempotencyKey: idempotencyKey)))
    }
}
