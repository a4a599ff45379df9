import CommandLineInterface
import Proto

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
