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
            .text("time_zone", timeZone),
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

/// `data-gateway object operation list`
struct OperationList: ClientCommand {
    static let name = "list"
    static let summary = "List deletions and restorations by filter, newest first"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        return Reply(
            "operations",
            try await Pages.all { token in
                let page = try await service.listObjectOperations(
                    ListObjectOperationsRequest(pageSize: Pages.size, pageToken: token))
                return (page.operations, page.nextPageToken)
            })
    }
}

/// `data-gateway object operation cancel`
struct OperationCancel: ClientCommand {
    static let name = "cancel"
    static let summary = "Cancel a deletion or restoration by filter; processed objects stay unchanged"

    static var parameters: [Parameter<Self>] {
        [.argument("OPERATION_ID", \.operationID, "The operation's id, as printed by rm and trash")]
            + connectionParameters
    }

    var operationID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await ObjectManagementServiceClient(gateway).cancelObjectOperation(
            CancelObjectOperationRequest(operationID: operationID))
        return Reply(try reply.operation.present("operation"))
    }
}

/// `data-gateway object operation undo`
struct OperationUndo: ClientCommand {
    static let name = "undo"
    static let summary = "Restore what a deletion by filter moved to the trash"
    static let discussion = [
        """
        Restores the objects that the deletion moved to the trash and that are still there, and prints their number. A \
        running deletion has to be canceled first.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("OPERATION_ID", \.operationID, "The deletion's id, as printed by rm"),
            .flag("--dry-run", \.isDryRun, "Show how many objects are still in the trash, without restoring them"),
        ] + connectionParameters
    }

    var operationID = ""
    var isDryRun = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        let reply = try await service.undoObjectOperation(
            UndoObjectOperationRequest(operationID: operationID, dryRun: isDryRun))
        return Reply(try await reply.finished(service))
    }
}
