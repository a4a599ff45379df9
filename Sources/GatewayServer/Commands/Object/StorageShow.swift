import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway storage`
struct StorageShow: ClientCommand {
    static let name = "storage"
    static let summary = "Show what fills the store, by site, device, type, tag, month or day"
    static let discussion = [
        """
        The gateway keeps these sums, so that the command reads no objects; 'object du' counts the objects that match a filter. \
        Objects in the trash are counted apart. Months and days are those of the recording, or of the upload if that is unknown.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--by", "GROUP", \.group,
                "The group: site, device, type, month, day, organization or raw_tags.KEY (default: site)"
            )
            .offering(["site", "device", "type", "month", "day", "organization"]),
            .option("--limit", "COUNT", \.limit, "Show at most this number of values, 1 to 1000; default: 20"),
            TimeZoneOption.parameter(\.timeZone),
        ] + connectionParameters
    }

    var group = "site"
    var limit: Int64 = 20
    var timeZone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard (1...1000).contains(limit) else {
            throw ClientFailure("--limit must be 1 to 1000, not \(limit)", exitCode: .usage)
        }
        let use = try await ObjectManagementServiceClient(gateway).getStorageUse(
            GetStorageUseRequest(
                groupBy: group == "type" ? "content_type" : group, valueLimit: Int32(clamping: limit),
                timeZone: timeZone))
        let found = try use.groups.first.present("groups")
        let rows = found.values.map { StorageRow(group: group, value: $0, total: use.bytes) }
        return Reply("values", rows, things: "objects").framed(
            json: .object([
                JSONValue.Member(name: "objects", value: .number(use.objects)),
                JSONValue.Member(name: "size_bytes", value: .number(use.bytes)),
                JSONValue.Member(name: "trashed_objects", value: .number(use.trashedObjects)),
                JSONValue.Member(name: "trashed_size_bytes", value: .number(use.trashedBytes)),
                JSONValue.Member(name: "is_complete", value: .bool(use.isComplete)),
                JSONValue.Member(name: "group_by", value: .string(found.name)),
                JSONValue.Member(name: "values", value: .array(rows.map(\.json))),
                JSONValue.Member(name: "total_values", value: .number(found.totalValues)),
                JSONValue.Member(name: "is_lower_bound", value: .bool(found.isLowerBound)),
                JSONValue.Member(name: "tag_keys", value: .array(use.tagKeys.map { .string($0) })),
            ]),
            before: Self.heading(use) + "\n\n", after: Self.rest(found))
    }

    private static func heading(_ use: GetStorageUseResponse) -> String {
        let stored = "\(TextLayout.count(use.objects, "object")), \(ByteCount.text(use.bytes))"
        guard use.isComplete else {
            return "\(stored); objects of an earlier version are still being added to the sums"
        }
        guard use.trashedObjects > 0 else { return stored }
        return "\(stored); in the trash: \(TextLayout.count(use.trashedObjects, "object")), "
            + ByteCount.text(use.trashedBytes)
    }

    private static func rest(_ group: StorageUseGroup) -> String {
        guard group.totalValues > group.values.count else { return "" }
        let total = "\(group.isLowerBound ? "at least " : "")\(group.totalValues)"
        return "\n\(group.values.count) of \(total) values; see --limit"
    }
}

/// The objects with one value.
private struct StorageRow: Resource {
    static let columns = ["value", "objects", "size_bytes", "share"]

    let group: String
    let value: StorageUseValue
    /// The bytes of all objects.
    let total: Int64

    var fields: [ResourceField] {
        let share = total > 0 ? Int64((Double(value.bytes) / Double(total) * 100).rounded()) : 0
        let name = value.displayName.isEmpty ? value.value : "\(value.displayName) (\(value.value))"
        return [
            ResourceField(
                name: "value", json: .string(value.value), text: name.isEmpty ? "none" : name, heading: group),
            .text("display_name", value.displayName),
            .number("objects", value.objects, shownAs: "\(value.objects)"), .size("size_bytes", value.bytes),
            .number("share", share, shownAs: share == 0 && value.bytes > 0 ? "under 1 %" : "\(share) %"),
        ]
    }
}
