import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway object rm`
struct ObjectDelete: ClientCommand {
    static let name = "rm"
    static let formerName: String? = "delete"
    static let summary = "Delete an object: move it to the trash"
    static let discussion = [
        """
        The object can be restored with 'trash restore' for the days that 'trash show' prints. If these are 0, it is \
        deleted permanently. 'rm --filter' deletes all objects that match a filter.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("OBJECT", \.object, "The object: its file id, or its name if no other has it"),
            .option("--reason", "TEXT", \.reason, "The reason, kept with the object and in its deletion record"),
        ] + connectionParameters
    }

    var object = ""
    var reason = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let fileID = try await gateway.lookup(connection).ids([object])[0]
        let reply = try await ObjectManagementServiceClient(gateway).deleteObject(
            DeleteObjectRequest(fileID: fileID, reason: reason))
        let purgeAt = ResourceField.time("purge_at", reply.purgeAt)
        return Reply(
            json: .object([
                JSONValue.Member(name: "file_id", value: .string(fileID)),
                JSONValue.Member(name: purgeAt.name, value: purgeAt.json),
            ]),
            text: reply.result(for: fileID))
    }
}

extension DeleteObjectResponse {
    /// Returns the message about the object that the call deleted.
    func result(for fileID: String) -> String {
        guard purgeAt != nil else { return "deleted \(fileID)" }
        let time = ResourceField.time("purge_at", purgeAt).text
        return "moved \(fileID) to the trash; it is deleted at \(time)"
    }
}

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
