import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway uploads list`
struct UploadsList: ClientCommand {
    static let name = "list"
    static let summary = "List the uploads in progress, newest first"
    static let examples = ["uploads list"]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = UploadManagementServiceClient(gateway)
        let uploads = try await Pages.all { token in
            let page = try await service.listUploads(ListUploadsRequest(pageSize: Pages.size, pageToken: token))
            return (page.uploads, page.nextPageToken)
        }
        let names = try await DeviceDisplayNames(of: uploads.map(\.deviceID), gateway)
        return Reply(
            "uploads", uploads.map { ListedUpload(upload: $0, deviceName: names[$0.deviceID]) },
            things: "uploads in progress")
    }
}

/// An upload with the name of its device.
private struct ListedUpload: Resource {
    static let columns = [
        "file_name", "device_name", "progress", "stored_bytes", "file_size_bytes", "created_at", "logical_upload_id",
    ]
    static let expendableColumns = [
        "created_at", "device_name", "stored_bytes", "file_size_bytes", "progress",
    ]
    static let essentialColumn: String? = "logical_upload_id"

    let upload: UploadUnderWay
    let deviceName: String

    var fields: [ResourceField] { upload.fields + [.deviceName(deviceName, of: upload.deviceID)] }
}

extension UploadUnderWay {
    fileprivate var fields: [ResourceField] {
        [
            .text("file_name", fileName), .text("logical_upload_id", logicalUploadID), .text("upload_id", uploadID),
            .text("organization", organization), .text("device_id", deviceID), .number("site_id", siteID),
            ResourceField(
                name: "progress", json: progress.map { .number($0) } ?? .null, text: progress.map { "\($0)%" } ?? ""),
            .size("stored_bytes", storedBytes),
            .size("file_size_bytes", fileSizeBytes), .number("part_count", Int64(partCount)),
            .size("part_size_bytes", partSizeBytes),
            ResourceField(name: "is_whole", json: .bool(isWhole), text: isWhole ? "yes" : "no"),
            .time("created_at", createdAt), .time("session_ends_at", sessionEndsAt),
        ]
    }
}

extension UploadUnderWay {
    /// The stored share of the file in percent; `nil` if the client did not send the file's size.
    fileprivate var progress: Int64? {
        guard fileSizeBytes > 0 else { return isWhole ? 100 : nil }
        return min(100, Int64(100 * (Double(storedBytes) / Double(fileSizeBytes))))
    }
}

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
