import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway uploads abort`
struct UploadsAbort: ClientCommand {
    static let name = "abort"
    static let summary = "Abort uploads in progress, and remove what they have stored"
    static let discussion = [
        "The device learns of it with its next call, and sends the file again only if somebody starts a new upload."
    ]
    static let examples = ["uploads abort 01a203bf-7b6e-7000-8a67-0c4b0a2e5f11"]

    static var parameters: [Parameter<Self>] {
        [
            .arguments("UPLOAD", \.uploads, "The uploads' logical ids, as printed by uploads list"),
            .option("--reason", "TEXT", \.reason, "The reason that the device and the audit log show"),
        ] + connectionParameters
    }

    var uploads: [String] = []
    var reason: String?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = UploadManagementServiceClient(gateway)
        var aborted: [String] = []
        for id in uploads {
            let reply = try await service.cancelUpload(CancelUploadRequest(logicalUploadID: id, reason: reason ?? ""))
            aborted.append(reply.logicalUploadID)
        }
        return Reply(
            json: .object([.init(name: "aborted", value: .array(aborted.map { .string($0) }))]),
            text: aborted.map { "aborted \($0)" }.joined(separator: "\n"))
    }
}
