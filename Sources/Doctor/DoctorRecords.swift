import Basics
import Database

/// All SQL of the doctor.
struct DoctorRecords {
    let connection: ReadConnection

    /// Returns damage of the database file; at most 100 lines.
    func damages() throws -> [String] {
        let damages = try connection.query("PRAGMA integrity_check(100)") { $0.text("integrity_check") }.filter {
            $0 != "ok"
        }
        let dangling = try connection.query("PRAGMA foreign_key_check") {
            "a row of \($0.text("table")) refers to a missing row"
        }
        return damages + dangling.prefix(100)
    }

    /// Returns files of finished objects that are in the store's tables but not in the list of objects.
    func unlisted(after fileID: String, limit: Int) throws -> [String] {
        try connection.query(
            """
            SELECT s.file_id FROM store_objects s LEFT JOIN objects o ON o.file_id = s.file_id
            WHERE o.file_id IS NULL AND s.file_id > $1 ORDER BY s.file_id LIMIT $2
            """, fileID, limit
        ) { $0.text("file_id") }
    }

    /// Returns the record of an object's permanent deletion; `nil` if it does not exist, or was removed after its
    /// retention.
    func deletion(of fileID: String) throws -> Doctor.Deletion? {
        try connection.first("SELECT deleted_at, deleted_by, reason FROM deleted_objects WHERE file_id = $1", fileID) {
            Doctor.Deletion(at: $0.time("deleted_at"), actor: $0.text("deleted_by"), reason: $0.text("reason"))
        }
    }

    /// Returns listed objects that are missing from the store's tables.
    func withoutStoredObject() throws -> [String] {
        try connection.query(
            """
            SELECT o.file_id FROM objects o LEFT JOIN store_objects s ON s.file_id = o.file_id
            WHERE s.file_id IS NULL ORDER BY o.file_id LIMIT 100
            """
        ) { $0.text("file_id") }
    }
}
