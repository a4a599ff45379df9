import Basics
package import CommandLineInterface
package import Proto

extension DataObject: Resource {
    package static let columns = ["name", "size_bytes", "device_id", "created_at", "tags", "file_id"]
    package static let expendableColumns = ["file_id", "device_id", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("name", name), .text("relative_path", relativePath), .text("file_id", fileID),
            .text("object_id", objectID),
            .text("status", "DATA_OBJECT_STATUS_\("\(status)".uppercased())", shownAs: "\(status)"),
            .size("size_bytes", sizeBytes), .text("content_type", contentType), .text("device_id", deviceID),
            .number("site_id", siteID), tagField,
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
