import Basics
import CommandLineInterface
import Proto

/// `data-gateway object delete`
struct ObjectDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete an object permanently"
    static let discussion = [
        "Downloads in progress finish; URLs that were issued before stop working."
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILE_ID", \.fileID, "The object's file id, as printed by ls"),
            .option("--reason", "TEXT", \.reason, "The reason, kept in the object's deletion record"),
        ] + connectionParameters
    }

    var fileID = ""
    var reason = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await ObjectManagementServiceClient(gateway).deleteObject(
            DeleteObjectRequest(fileID: fileID, reason: reason))
        return Reply(
            json: .object([JSONValue.Member(name: "file_id", value: .string(fileID))]), text: "deleted \(fileID)")
    }
}
