package import CommandLineInterface
package import Proto

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
