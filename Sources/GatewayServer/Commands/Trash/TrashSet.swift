package import CommandLineInterface
package import Proto

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
