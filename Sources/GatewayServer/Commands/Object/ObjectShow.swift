import Basics
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
            var details = try await ObjectManagementServiceClient(admin).getObject(GetObjectRequest(fileID: id))
            details.object?.deviceName = try await DeviceDisplayNames(of: [details.deviceID], admin)[details.deviceID]
            return Reply(details)
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

extension DataObject: Resource {
    package static let columns = ["name", "size_bytes", "device_name", "created_at", "tags", "file_id"]
    package static let expendableColumns = ["file_id", "device_name", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("name", name), .text("relative_path", relativePath), .text("file_id", fileID),
            .text("object_id", objectID),
            .text("status", "DATA_OBJECT_STATUS_\("\(status)".uppercased())", shownAs: "\(status)"),
            .size("size_bytes", sizeBytes), .text("content_type", contentType), .text("device_id", deviceID),
            .deviceName(deviceName, of: deviceID), .number("site_id", siteID), tagField, .texts("topics", topics),
            .unixTime("created_at", createdAtUnix), .unixTime("uploaded_at", uploadedAtUnix),
            .unixTime("verified_at", verifiedAtUnix), .text("etag", etag), .text("crc64_ecma", crc64Ecma),
            .time("recorded_from", recordedFrom), .time("recorded_to", recordedTo), .time("trashed_at", trashedAt),
        ]
    }

    /// All tags in JSON; for people without the tag that repeats the name.
    private var tagField: ResourceField {
        let shown = ResourceField.map("tags", tags.filter { $0.key != FileName.tagKey })
        return shown.with(json: ResourceField.map("tags", tags).json)
    }
}
