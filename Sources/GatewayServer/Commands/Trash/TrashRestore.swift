import CommandLineInterface
import Proto

/// `data-gateway trash restore`
struct TrashRestore: ClientCommand {
    static let name = "restore"
    static let summary = "Restore objects from the trash"

    static var parameters: [Parameter<Self>] {
        [
            .arguments("OBJECT", \.objects, "The objects: file ids or names, as printed by trash list")
        ] + connectionParameters
    }

    var objects: [String] = []
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        var restored: [DataObject] = []
        for fileID in try await gateway.lookup(connection).ids(objects, inTrash: true) {
            let reply = try await service.restoreObject(RestoreObjectRequest(fileID: fileID))
            restored.append(try reply.object.present("object"))
        }
        return Reply("objects", restored)
    }
}
