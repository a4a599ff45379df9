import CommandLineInterface
import Proto

/// `data-gateway trash restore`
struct TrashRestore: ClientCommand {
    static let name = "restore"
    static let summary = "Restore objects from the trash"

    static var parameters: [Parameter<Self>] {
        [
            .arguments("FILE_ID", \.fileIDs, "The objects' file ids, as printed by trash list")
        ] + connectionParameters
    }

    var fileIDs: [String] = []
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        var restored: [DataObject] = []
        for fileID in fileIDs {
            let reply = try await service.restoreObject(RestoreObjectRequest(fileID: fileID))
            restored.append(try reply.object.present("object"))
        }
        return Reply("objects", restored)
    }
}
