package import CommandLineInterface
package import Proto

/// `data-gateway trash list`
struct TrashList: ClientCommand {
    static let name = "list"
    static let summary = "List the objects in the trash"
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILTER", \.filter, "List only objects that match the filter of ls", isRequired: false)
                .allowingEmpty(),
            TimeZoneOption.parameter(\.timeZone),
        ] + connectionParameters
    }

    var filter = ""
    var timeZone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = DataGatewayObjectServiceClient(gateway)
        let trashed = filter.isEmpty ? "trashed=true" : "trashed=true (\(filter))"
        return Reply(
            "objects",
            try await Pages.all { token in
                let page = try await service.listObjects(
                    ListObjectsRequest(
                        pageSize: Pages.size, pageToken: token, filter: trashed, timeZone: timeZone, withTopics: true,
                        withDeviceNames: true))
                return (page.objects.map(TrashedObject.init), page.nextPageToken)
            }, things: "objects in the trash\(NameSearch.advice(for: filter))")
    }
}

/// An object in the trash, for `trash list`.
struct TrashedObject: Resource {
    static let columns = ["name", "size_bytes", "device_name", "trashed_at", "file_id"]
    static let expendableColumns = ["file_id", "device_name"]

    let object: DataObject

    var fields: [ResourceField] { object.fields }
}

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
            TimeZoneOption.parameter(\.timeZone),
            .flag("--dry-run", \.isDryRun, "Show how many objects match, without restoring them"),
            .flag("--yes", \.isConfirmed, "Restore all objects that match the filter without asking for confirmation"),
        ] + connectionParameters
    }

    var objects: [String] = []
    var filter: String?
    var timeZone = ""
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
                try await service.restoreObjects(
                    RestoreObjectsRequest(filter: filter, dryRun: isDryRun, timeZone: timeZone))
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

/// `data-gateway trash show`
struct TrashShow: ClientCommand {
    static let name = "show"
    static let summary = "Show how long objects stay in the trash, and how much is in it"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await ObjectManagementServiceClient(gateway).getTrashSettings(GetTrashSettingsRequest()))
    }
}

extension GetTrashSettingsResponse: Resource {
    package static let columns = ["days"]

    package var fields: [ResourceField] {
        [
            .number("days", Int64(days), shownAs: "\(days)"),
            .number("trashed_objects", trashedObjects, shownAs: "\(trashedObjects)"),
            .size("trashed_bytes", trashedBytes),
        ]
    }
}

/// `data-gateway trash set`
struct TrashSet: ClientCommand {
    static let name = "set"
    static let summary = "Set how long the organization's objects stay in the trash"
    static let discussion = [
        """
        Objects that were in the trash for longer are deleted permanently within two minutes: check them with --dry-run \
        first.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("DAYS", \.days, "The number of days; 0 = objects are deleted at once"),
            .flag("--dry-run", \.isDryRun, "Show what would be deleted now, without changing the setting"),
        ] + connectionParameters
    }

    var days = DayCount()
    var isDryRun = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await ObjectManagementServiceClient(gateway).setTrashSettings(
                SetTrashSettingsRequest(timeInTrash: .days(days.days), dryRun: isDryRun)))
    }
}

extension SetTrashSettingsResponse: Resource {
    package static let columns = ["days"]

    package var fields: [ResourceField] {
        [
            .number("days", Int64(days), shownAs: "\(days)"),
            .number("affected_objects", affectedObjects, shownAs: "\(affectedObjects)"),
            .size("affected_bytes", affectedBytes),
        ]
    }
}
