package import Basics
package import Database

extension StoreSchema {
    static let removalMigration = Migration(
        name: "store-removals",
        sql: """
            -- not_before: the time until which the file is kept for processes that read or store it; 0 = none does. is_begun: whether
            -- a process removes a segment, so that it cannot get a row any more.
            ALTER TABLE store_removals ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE store_removals ADD COLUMN is_begun INTEGER NOT NULL DEFAULT 0;
            """,
        postgres: """
            ALTER TABLE store_removals ADD COLUMN not_before BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE store_removals ADD COLUMN is_begun BIGINT NOT NULL DEFAULT 0;
            """, compatibility: .expanding)
}

/// The data files with rows, and those to be removed.
extension StoreRecords {
    /// Schedules files for unlinking, in the transaction that removes their rows.
    ///
    /// - Parameter notBefore: the time until which they are kept; `nil` = nobody else needs them.
    package func scheduleRemoval(
        _ fileIDs: [String], notBefore: UnixTime? = nil
    ) throws where C == Connection {
        for fileID in fileIDs {
            try connection.executeSoon(
                "INSERT INTO store_removals (file_id, not_before) VALUES ($1, $2) ON CONFLICT DO NOTHING", fileID,
                notBefore?.microseconds ?? 0)
        }
    }

    /// Returns scheduled files in the order of their ids.
    ///
    /// - Parameter time: files that are kept longer are left out; `nil` = none is.
    package func scheduledRemovals(after last: String, limit: Int, at time: UnixTime? = nil) throws -> [String] {
        let sql =
            "SELECT file_id FROM store_removals WHERE file_id > $1 AND not_before <= $3 ORDER BY file_id LIMIT $2"
        return try connection.query(sql, last, limit, time?.microseconds ?? .max) { $0.text("file_id") }
    }

    /// Records that a segment is being removed.
    ///
    /// - Returns: `false` if its removal was cancelled, or it was removed.
    package func beginRemoval(_ segmentID: String) throws -> Bool where C == Connection {
        try connection.execute("UPDATE store_removals SET is_begun = 1 WHERE file_id = $1", segmentID) == 1
    }

    /// Returns the number of scheduled files, at most `limit`.
    func countScheduledRemovals(limit: Int) throws -> Int {
        let sql = "SELECT count(*) AS count FROM (SELECT 1 AS one FROM store_removals LIMIT $1) AS scheduled"
        return try connection.first(sql, limit) { $0.int("count") } ?? 0
    }

    package func scheduledRemovals(withPrefix prefix: String) throws -> Set<String> {
        // "g" comes after every hexadecimal digit.
        let sql = "SELECT file_id FROM store_removals WHERE file_id >= $1 AND file_id < $2"
        return Set(try connection.query(sql, prefix, prefix + "g") { $0.text("file_id") })
    }

    package func isRemovalScheduled(_ fileID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_removals WHERE file_id = $1", fileID)
    }

    /// Cancels a removal.
    ///
    /// - Returns: whether it was still scheduled, and no process had begun it.
    package func cancelRemoval(_ fileID: String) throws -> Bool where C == Connection {
        try connection.execute("DELETE FROM store_removals WHERE file_id = $1 AND is_begun = 0", fileID) == 1
    }

    package func removed(_ fileIDs: [String]) throws where C == Connection {
        for fileID in fileIDs {
            try connection.execute("DELETE FROM store_removals WHERE file_id = $1", fileID)
        }
    }

    /// Returns the uses of data files whose ids begin with `prefix` (two hexadecimal digits).
    package func files(withPrefix prefix: String) throws -> [String: FileUse] {
        var uses: [String: FileUse] = [:]
        for (table, lost, kind) in [
            ("store_parts", "lost", FileUse.Kind.part), ("store_multiparts", "lost", .multipart),
            ("store_objects", "lost", .object),
        ] {
            let sql = "SELECT file_id, \(lost) FROM \(table) WHERE file_id >= $1 AND file_id < $2"
            // "g" comes after every hexadecimal digit.
            for (fileID, isLost) in try connection.query(
                sql, prefix, prefix + "g", row: { ($0.text("file_id"), $0.bool("lost")) })
            {
                // An object of parts has the file of its multipart upload, and takes precedence.
                uses[fileID] = FileUse(kind: kind, isLost: isLost)
            }
        }
        return uses
    }

    /// Whether any row refers to the file, including one that schedules its removal.
    package func refers(to fileID: String) throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM store_objects WHERE file_id = $1)
                OR EXISTS (SELECT 1 FROM store_multiparts WHERE file_id = $1)
                OR EXISTS (SELECT 1 FROM store_parts WHERE file_id = $1)
                OR EXISTS (SELECT 1 FROM store_removals WHERE file_id = $1) AS is_known
            """, fileID
        ) { $0.bool("is_known") } ?? false
    }

    package func isObject(fileID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_objects WHERE file_id = $1", fileID)
    }

    /// Marks rows of a missing file: whatever needs it cannot be completed or read until it exists again.
    ///
    /// - Returns: whether any row refers to it.
    @discardableResult
    package func markLost(_ fileID: String, _ isLost: Bool) throws -> Bool where C == Connection {
        var count = 0
        for table in ["store_objects", "store_multiparts", "store_parts"] {
            count += try connection.execute("UPDATE \(table) SET lost = $2 WHERE file_id = $1", fileID, isLost)
        }
        return count > 0
    }
}

/// The use of a data file, by its row.
package struct FileUse: Equatable {
    package enum Kind: Equatable {
        case part
        case multipart
        case object
    }

    package let kind: Kind
    package let isLost: Bool
}
