import Basics
import CommandLineInterface
import Proto

/// `data-gateway object delete`
struct ObjectDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete an object for good"
    static let discussion = [
        "Downloads that are under way come to their end; URLs that were issued before find nothing any more."
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILE_ID", \.fileID, "The object's file id, as ListObjects has it"),
            .option("--reason", "TEXT", \.reason, "Why; kept with what is left of the object"),
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
