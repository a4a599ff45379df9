import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway rm`
struct Remove: ClientCommand {
    static let name = "rm"
    static let summary = "Delete objects: move them to the trash"
    static let discussion = [
        """
        Give file ids or names, or --filter with a filter as for ls. With --filter the gateway deletes in the background, \
        also if you interrupt the command, which waits for the end; 'object operation show' prints the progress. Without --yes, the command asks for confirmation. Check with --dry-run first. Objects in \
        the trash can be restored with 'trash restore' for the days that 'trash show' prints; 'object operation undo' restores \
        those of a deletion by filter.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments(
                "OBJECT", \.objects, "The objects: file ids, or names that no other object has", isRequired: false),
            .option("--filter", "FILTER", \.filter, "Delete all objects that match the filter"),
            TimeZoneOption.parameter(\.timeZone),
            .flag("--dry-run", \.isDryRun, "Show how many objects match, without deleting them"),
            .flag("--yes", \.isConfirmed, "Delete all objects that match the filter without asking for confirmation"),
            .option("--reason", "TEXT", \.reason, "The reason, kept with the objects and in their deletion records"),
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
        guard let filter else {
            guard !objects.isEmpty else { throw ClientFailure("OBJECT or --filter is missing", exitCode: .usage) }
            guard !isDryRun else { throw ClientFailure("--dry-run needs --filter", exitCode: .usage) }
            let fileIDs = try await gateway.lookup(connection).ids(objects, takesFilter: true)
            var results: [String] = []
            for fileID in fileIDs {
                let reply = try await service.deleteObject(DeleteObjectRequest(fileID: fileID, reason: reason))
                results.append(reply.result(for: fileID))
            }
            return Reply(
                json: .object([JSONValue.Member(name: "file_ids", value: .array(fileIDs.map { .string($0) }))]),
                text: results.joined(separator: "\n"))
        }
        guard objects.isEmpty else {
            throw ClientFailure("OBJECT and --filter must not be given together", exitCode: .usage)
        }
        let change = BulkChange(
            action: "Delete", outcome: "deleted", emptiness: NameSearch.nothing(matches: filter),
            isDryRun: isDryRun, isConfirmed: isConfirmed)
        return try await change.make(with: service) { isDryRun in
            try await service.deleteObjects(
                DeleteObjectsRequest(filter: filter, reason: reason, dryRun: isDryRun, timeZone: timeZone))
        }
    }
}
