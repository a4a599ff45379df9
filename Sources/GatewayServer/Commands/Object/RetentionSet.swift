import CommandLineInterface
import Proto

/// `data-gateway object retention set`
struct RetentionSet: ClientCommand {
    static let name = "set"
    static let summary = "Set the organization's retention, the age at which its objects are deleted"
    static let discussion = [
        """
        The age of an object counts from the completion of its upload. Objects that are already older are deleted within \
        two minutes: check them with --dry-run first.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("DAYS", \.days, "The number of days; 0 = keep objects"),
            .flag("--dry-run", \.isDryRun, "Show what would be deleted now, without changing the retention"),
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
