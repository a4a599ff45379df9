import Basics
package import Database

/// The names of objects in the store.
package enum ObjectKey {
    private static let prefix = "uploads/"

    /// Whether the key belongs, or will belong, to an upload.
    package static func isOfUpload(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    /// Returns the upload for which the key was issued, whatever its state; `nil` for keys of other objects.
    package static func uploadID(bucket: String, key: String, in connection: ReadConnection) throws -> String? {
        guard let last = key.split(separator: "/", omittingEmptySubsequences: false).last,
            let upload = try UploadRecords(connection).upload(String(last)),
            upload.location.bucket == bucket, upload.location.key == key
        else { return nil }
        return upload.id
    }

    /// Returns `uploads/<yyyy>/<mm>/<dd>/<upload id>`, with the day in UTC.
    static func of(uploadID: String, at time: UnixTime) -> String {
        "\(prefix)\(CivilTime(time).date(separator: "/"))/\(uploadID)"
    }
}
