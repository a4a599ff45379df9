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
            ResourceField.lines(
                "examples",
                examples.map { "\($0.name) (\($0.fileID)), \(ByteCount.text($0.sizeBytes))" }
            ).with(json: .array(examples.map(\.json))),
        ]
    }
}

extension RetentionExample: Resource {
    package static let columns = ["name", "size_bytes", "kept_since", "file_id"]

    package var fields: [ResourceField] {
        [
            .text("file_id", fileID), .text("name", name), .text("device_id", deviceID), .number("site_id", siteID),
            .size("size_bytes", sizeBytes), .time("kept_since", keptSince),
        ]
    }
}

/// An argument `DAYS:FILTER`; the filter may contain further colons.
struct RetentionRuleArgument: ArgumentValue, Hashable, Sendable {
    let days: Int32
    let filter: String

    init(argument: String) throws(ArgumentProblem) {
        guard let colon = argument.firstIndex(of: ":"), let days = Int32(argument[..<colon]) else {
            throw ArgumentProblem("must be DAYS:FILTER, not '\(argument)'")
        }
        self.days = days
        filter = String(argument[argument.index(after: colon)...])
    }

    var message: RetentionRule { RetentionRule(filter: filter, days: days) }
}

extension [RetentionRule] {
    /// The rules in the form of the command line.
    var field: ResourceField {
        let objects = map { rule in
            JSONValue.object([
                JSONValue.Member(name: "filter", value: .string(rule.filter)),
                JSONValue.Member(name: "days", value: .number(Int64(rule.days))),
            ])
        }
        return ResourceField(
            name: "rules", json: .array(objects), text: map { "\($0.days):\($0.filter)" }.joined(separator: "; "))
    }
}

/// `data-gateway object retention show`
struct RetentionShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the organization's retention, the age at which its objects are deleted"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await ObjectManagementServiceClient(gateway).getRetention(GetRetentionRequest()))
    }

    static func text(_ days: Int32) -> String { days == 0 ? "0 (objects are kept)" : "\(days)" }
}

extension GetRetentionResponse: Resource {
    package static let columns = ["days"]

    package var fields: [ResourceField] {
        [.number("days", Int64(days), shownAs: RetentionShow.text(days)), rules.field]
    }
}

/// An argument with a number of days, 0 or more.
struct DayCount: ArgumentValue, Hashable {
    var days: Int32 = 0

    init() {}

    init(argument: String) throws(ArgumentProblem) {
        guard let days = Int32(argument), days >= 0 else {
            throw ArgumentProblem("must be a number of days, 0 or more, not '\(argument)'")
        }
        self.days = days
    }
}
