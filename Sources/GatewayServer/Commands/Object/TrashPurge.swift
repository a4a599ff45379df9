import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway trash purge`
struct TrashPurge: ClientCommand {
    static let name = "purge"
    static let summary = "Delete objects in the trash permanently"
    static let discussion = [
        "Downloads in progress finish; URLs that were issued before stop working.",
        """
        Give file ids or names, or --filter with a filter as for ls. With --filter the gateway deletes in the background, \
        also if you interrupt the command, which waits for the end; 'object operation show' prints the progress. Without --yes, the command asks for confirmation.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments(
                "OBJECT", \.objects, "The objects: file ids or names, as printed by trash list", isRequired: false),
            .option("--filter", "FILTER", \.filter, "Delete all objects in the trash that match the filter"),
            TimeZoneOption.parameter(\.timeZone),
            .flag("--dry-run", \.isDryRun, "Show how many objects match, without deleting them"),
            .flag("--yes", \.isConfirmed, "Delete all objects that match the filter without asking for confirmation"),
            .option("--reason", "TEXT", \.reason, "The reason, kept in the objects' deletion records"),
        ] + connectionParameters
    }

    var objects: [String] = []
    var filter: String?
    var timeZone = ""
    var isDryRun = false
    var isConfirmed = false
    var reason = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        if let filter = try TrashSelection(objects: objects, filter: filter, isDryRun: isDryRun).filter {
            let change = BulkChange(
                action: "Permanently delete", outcome: "deleted",
                emptiness: NameSearch.nothing(matches: filter, inTrash: true),
                isDryRun: isDryRun, isConfirmed: isConfirmed)
            return try await change.make(with: service) { isDryRun in
                try await service.purgeObjects(
                    PurgeObjectsRequest(filter: filter, reason: reason, dryRun: isDryRun, timeZone: timeZone))
            }
        }
        let fileIDs = try await gateway.lookup(connection).ids(objects, inTrash: true, takesFilter: true)
        for fileID in fileIDs {
            _ = try await service.purgeObject(PurgeObjectRequest(fileID: fileID, reason: reason))
        }
        return Reply(
            json: .object([JSONValue.Member(name: "file_ids", value: .array(fileIDs.map { .string($0) }))]),
            text: fileIDs.map { "purged \($0)" }.joined(separator: "\n"))
    }
}

/// `data-gateway trash empty`
struct TrashEmpty: ClientCommand {
    static let name = "empty"
    static let summary = "Delete all objects in the trash permanently"
    static let discussion = [
        "The gateway deletes in the background, and the command waits for the end. Without --yes, the command asks for confirmation."
    ]

    static var parameters: [Parameter<Self>] {
        [
            .flag("--dry-run", \.isDryRun, "Show how many objects are in the trash, without deleting them"),
            .flag("--yes", \.isConfirmed, "Delete them without asking for confirmation"),
            .option("--reason", "TEXT", \.reason, "The reason, kept in the objects' deletion records"),
        ] + connectionParameters
    }

    var isDryRun = false
    var isConfirmed = false
    var reason = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        let change = BulkChange(
            action: "Permanently delete", outcome: "deleted", emptiness: "the trash is empty", isDryRun: isDryRun,
            isConfirmed: isConfirmed)
        return try await change.make(with: service) { isDryRun in
            try await service.purgeObjects(
                PurgeObjectsRequest(filter: "size>=0", reason: reason, dryRun: isDryRun))
        }
    }
}

/// The objects of a command: named ones, or all that a filter matches.
struct TrashSelection: Sendable {
    /// The filter; `nil` = the objects are named.
    let filter: String?

    /// - Throws: if both or neither are given, or a dry run is wanted of named objects.
    init(objects: [String], filter: String?, isDryRun: Bool) throws(ClientFailure) {
        guard objects.isEmpty != (filter == nil) else {
            throw ClientFailure(
                filter == nil
                    ? "OBJECT or --filter is missing" : "OBJECT and --filter must not be given together",
                exitCode: .usage)
        }
        guard filter != nil || !isDryRun else { throw ClientFailure("--dry-run needs --filter", exitCode: .usage) }
        self.filter = filter
    }
}
