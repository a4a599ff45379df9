import CommandLineInterface
import Proto

/// `data-gateway object operation show`
struct OperationShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the progress of a deletion by filter"

    static var parameters: [Parameter<Self>] {
        [.argument("OPERATION_ID", \.operationID, "The operation's id, as printed by rm")] + connectionParameters
    }

    var operationID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await ObjectManagementServiceClient(gateway).getObjectOperation(
            GetObjectOperationRequest(operationID: operationID))
        return Reply(try reply.operation.present("operation"))
    }
}

extension ObjectOperation: Resource {
    package static let columns = ["operation_id", "status", "progress_percent", "deleted_objects", "filter"]

    package var fields: [ResourceField] {
        let word = "\(status)"
        return [
            .text("operation_id", operationID),
            .text("status", "OBJECT_OPERATION_STATUS_\(word.uppercased())", shownAs: word), .text("filter", filter),
            .text("reason", reason), .text("created_by", createdBy), .time("created_at", createdAt),
            .time("finished_at", finishedAt),
            .number("deleted_objects", deletedObjects, shownAs: "\(deletedObjects)"),
            .size("deleted_bytes", deletedBytes),
            .number("progress_percent", Int64(progressPercent), shownAs: "\(progressPercent)"),
        ]
    }
}
