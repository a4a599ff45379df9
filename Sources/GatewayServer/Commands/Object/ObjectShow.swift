package import CommandLineInterface
package import Proto

/// `data-gateway object show`
struct ObjectShow: Command {
    static let name = "show"
    static let summary = "Show everything about an object"
    static let examples = ["object show drive.mcap"]

    static var parameters: [Parameter<Self>] {
        [.argument("OBJECT", \.object, "The object: a file id, the id of an upload, a name or a filter")]
            + ConnectionOptions.parameters(of: .admin).map { $0.at(\.connection) }
    }

    var object = ""
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: connection.json) {
            let id = try await ObjectLookup(connection, environment).one(object).id
            let admin = try await SignedInConnection(connection, listener: .admin, in: environment)
            return Reply(try await ObjectManagementServiceClient(admin).getObject(GetObjectRequest(fileID: id)))
        }
    }
}

extension ObjectDetails: Resource {
    package static let columns = ["object", "upload_id"]

    package var fields: [ResourceField] {
        (object?.fields ?? []) + [
            .text("organization", organization), .text("upload_id", uploadID), .text("bucket", bucket),
            .text("object_key", objectKey), .text("trashed_by", trashedBy), .text("trash_reason", trashReason),
            .time("purge_at", purgeAt),
        ]
    }
}
