import Basics
import CommandLineInterface
import Proto

/// `data-gateway trash purge`
struct TrashPurge: ClientCommand {
    static let name = "purge"
    static let summary = "Delete objects in the trash permanently"
    static let discussion = [
        "Downloads in progress finish; URLs that were issued before stop working."
    ]

    static var parameters: [Parameter<Self>] {
        [
            .arguments("OBJECT", \.objects, "The objects: file ids or names, as printed by trash list"),
            .option("--reason", "TEXT", \.reason, "The reason, kept in the objects' deletion records"),
        ] + connectionParameters
    }

    var objects: [String] = []
    var reason = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        let fileIDs = try await gateway.lookup(connection).ids(objects, inTrash: true)
        for fileID in fileIDs {
            _ = try await service.purgeObject(PurgeObjectRequest(fileID: fileID, reason: reason))
        }
        return Reply(
            json: .object([JSONValue.Member(name: "file_ids", value: .array(fileIDs.map { .string($0) }))]),
            text: fileIDs.map { "purged \($0)" }.joined(separator: "\n"))
    }
}
