import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway object retention set`
struct RetentionSet: ClientCommand {
    static let name = "set"
    static let summary = "Set the organization's retention, the age at which its objects are deleted"
    static let discussion = [
        """
        The age of an object counts from the completion of its upload. Objects that are already older move to the trash \
        within two minutes: check them with --dry-run first.
        """,
        """
        DAYS is for objects that no rule matches; otherwise the first rule that matches decides. A FILTER is as for ls, for \
        example kind=test, device=261121-000001 or site=2. Rules remain as they are unless --rule or --no-rules is given.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("DAYS", \.days, "The number of days; 0 = keep objects"),
            .repeated("--rule", "DAYS:FILTER", \.rules, "Keep objects that match FILTER for DAYS; 0 = keep them"),
            .flag("--no-rules", \.removesRules, "Remove all rules"),
            .flag("--dry-run", \.isDryRun, "Show what would be deleted now, without changing the retention"),
        ] + connectionParameters
    }

    var days = DayCount()
    var rules: [RetentionRuleArgument] = []
    var removesRules = false
    var isDryRun = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard rules.isEmpty || !removesRules else {
            throw ClientFailure("--rule and --no-rules must not be given together", exitCode: .usage)
        }
        return Reply(
            try await ObjectManagementServiceClient(gateway).setRetention(
                SetRetentionRequest(
                    days: days.days, dryRun: isDryRun, rules: rules.map(\.message),
                    replaceRules: removesRules || !rules.isEmpty)))
    }
}

extension SetRetentionResponse: Resource {
    package static let columns = ["days"]

    package var fields: [ResourceField] {
        let prefix = isLowerBound ? "at least " : ""
        return [
            .number("days", Int64(days), shownAs: RetentionShow.text(days)), rules.field,
            .number("affected_objects", affectedObjects, shownAs: "\(prefix)\(affectedObjects)"),
            ResourceField(
                name: "affected_bytes", json: .number(affectedBytes), text: "\(prefix)\(ByteCount.text(affectedBytes))",
                heading: "affected"),
            ResourceField(name: "is_lower_bound", json: .bool(isLowerBound), text: ""),
        ]
    }
}
