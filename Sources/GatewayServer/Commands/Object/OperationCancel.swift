import CommandLineInterface
import Proto

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
