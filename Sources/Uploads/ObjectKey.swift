import Basics
import Database

/// The names of objects in the store.
package enum ObjectKey {
    private static let prefix = "uploads/"

    /// Whether an upload may have, or come to have, an object of that key.
    package static func isOfUpload(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    /// The upload that a key was issued to, whatever became of it; `nil` = it is no upload's.
    package static func uploadID(bucket: String, key: String, in connection: Connection) throws -> String? {
        guard let last = key.split(separator: "/", omittingEmptySubsequences: false).last,
            let upload = try UploadRecords(connection).upload(String(last)),
            upload.location.bucket == bucket, upload.location.key == key
        else { return nil }
        return upload.id
    }

    /// `uploads/<yyyy>/<mm>/<dd>/<upload id>`, the day in UTC.
    static func of(uploadID: String, at time: UnixTime) -> String {
        "\(prefix)\(CivilTime(time).date(separator: "/"))/\(uploadID)"
    }
}
