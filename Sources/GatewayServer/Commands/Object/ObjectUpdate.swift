import CommandLineInterface
import Proto

/// `data-gateway object tag`
struct ObjectUpdate: ClientCommand {
    static let name = "tag"
    static let formerName: String? = "update"
    static let summary = "Change an object's tags"

    static var parameters: [Parameter<Self>] {
        [
            .argument("OBJECT", \.object, "The object: its file id, or its name if no other has it"),
            .repeated("--tag", "KEY=VALUE", \.tags, "A tag to add or to change"),
            .repeated("--remove-tag", "KEY", \.removedTags, "A tag to remove"),
            .flag("--replace-tags", \.replaceTags, "Remove all tags that are not given"),
        ] + connectionParameters
    }

    var object = ""
    var tags: [TagArgument] = []
    var removedTags: [String] = []
    var replaceTags = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let fileID = try await gateway.lookup(connection).ids([object])[0]
        let reply = try await ObjectManagementServiceClient(gateway).updateObject(
            UpdateObjectRequest(
                fileID: fileID, tags: try tags.dictionary(), replaceTags: replaceTags, removeTags: removedTags))
        return Reply(try reply.object.present("object"))
    }
}
