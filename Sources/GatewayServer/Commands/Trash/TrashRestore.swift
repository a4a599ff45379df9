import CommandLineInterface
import Proto

/// `data-gateway trash restore`
struct TrashRestore: ClientCommand {
    static let name = "restore"
    static let summary = "Restore objects from the trash"
    static let discussion = [
        """
        Give file ids or names, or --filter with a filter as for ls. With --filter the gateway restores in the background, \
        also if you interrupt the command, which waits for the end; 'object operation show' prints the progress. Without --yes, the command asks for confirmation. 'object operation \
        undo' restores what one 'rm --filter' deleted.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments(
                "OBJECT", \.objects, "The objects: file ids or names, as printed by trash list", isRequired: false),
            .option("--filter", "FILTER", \.filter, "Restore all objects in the trash that match the filter"),
            .flag("--dry-run", \.isDryRun, "Show how many objects match, without restoring them"),
            .flag("--yes", \.isConfirmed, "Restore all objects that match the filter without asking for confirmation"),
        ] + connectionParameters
    }

    var objects: [String] = []
    var filter: String?
    var isDryRun = false
    var isConfirmed = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        if let filter = try TrashSelection(objects: objects, filter: filter, isDryRun: isDryRun).filter {
            let change = BulkChange(
                action: "Restore", outcome: "restored", emptiness: NameSearch.nothing(matches: filter, inTrash: true),
                isDryRun: isDryRun, isConfirmed: isConfirmed)
            return try await change.make(with: service) { isDryRun in
                try await service.restoreObjects(RestoreObjectsRequest(filter: filter, dryRun: isDryRun))
            }
        }
        var restored: [DataObject] = []
        for fileID in try await gateway.lookup(connection).ids(objects, inTrash: true, takesFilter: true) {
            let reply = try await service.restoreObject(RestoreObjectRequest(fileID: fileID))
            restored.append(try reply.object.present("object"))
        }
        return Reply("objects", restored)
    }
}
