package import CommandLineInterface
package import Proto

/// `data-gateway object operation show`
struct OperationShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the progress of a deletion or restoration by filter"

    static var parameters: [Parameter<Self>] {
        [.argument("OPERATION_ID", \.operationID, "The operation's id, as printed by rm and trash")]
            + connectionParameters
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
    package static let columns = [
        "operation_id", "kind", "status", "progress_percent", "deleted_objects", "restored_objects", "filter",
    ]

    package var fields: [ResourceField] {
        let (word, kind) = ("\(status)", "\(kind)")
        return [
            .text("operation_id", operationID),
            .text("kind", "OBJECT_OPERATION_KIND_\(kind.uppercased())", shownAs: kind),
            .text("status", "OBJECT_OPERATION_STATUS_\(word.uppercased())", shownAs: word), .text("filter", filter),
            .text("reason", reason), .text("created_by", createdBy), .time("created_at", createdAt),
            .time("finished_at", finishedAt),
            .number("deleted_objects", deletedObjects, shownAs: "\(deletedObjects)"),
            .size("deleted_bytes", deletedBytes),
            .number("restored_objects", restoredObjects, shownAs: "\(restoredObjects)"),
            .size("restored_bytes", restoredBytes),
            .text("undone_operation_id", undoneOperationID),
            .number("progress_percent", Int64(progressPercent), shownAs: "\(progressPercent)"),
        ]
    }
}
