import CommandLineInterface
import Proto

/// `data-gateway object retention set`
struct RetentionSet: ClientCommand {
    static let name = "set"
    static let summary = "Say after how many days the organization's objects are deleted"
    static let discussion = [
        """
        Counted from when an object was verified. What is older already goes within a minute or two, so look first what that \
        is: --dry-run.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("DAYS", \.days, "0 = keep them"),
            .flag("--dry-run", \.isDryRun, "Only tell what would be deleted now"),
        ] + connectionParameters
    }

    var days: Int64 = 0
    var isDryRun = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await ObjectManagementServiceClient(gateway).setRetention(
                SetRetentionRequest(days: Int32(clamping: days), dryRun: isDryRun)))
    }
}

extension SetRetentionResponse: Resource {
    package static let columns = ["days"]

    package var fields: [ResourceField] {
        [
            .number("days", Int64(days), shownAs: RetentionShow.text(days)),
            .number("affected_objects", affectedObjects, shownAs: "\(affectedObjects)"),
            .number("affected_bytes", affectedBytes, shownAs: "\(affectedBytes)"),
        ]
    }
}
