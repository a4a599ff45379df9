import Database

/// Which data files rows speak of, and which are to go.
extension StoreRecords {
    /// Remembers that these files are to be unlinked, in the transaction that removes their rows.
    func scheduleRemoval(_ fileIDs: [String]) throws {
        for fileID in fileIDs {
            try connection.execute("INSERT INTO store_removals (file_id) VALUES ($1) ON CONFLICT DO NOTHING", fileID)
        }
    }

    /// In the order of their ids.
    func scheduledRemovals(after last: String, limit: Int) throws -> [String] {
        let sql = "SELECT file_id FROM store_removals WHERE file_id > $1 ORDER BY file_id LIMIT $2"
        return try connection.query(sql, last, limit) { $0.text("file_id") }
    }

    func scheduledRemovals(withPrefix prefix: String) throws -> Set<String> {
        // "g" comes after every hex digit.
        let sql = "SELECT file_id FROM store_removals WHERE file_id >= $1 AND file_id < $2"
        return Set(try connection.query(sql, prefix, prefix + "g") { $0.text("file_id") })
    }

    func removed(_ fileIDs: [String]) throws {
        for fileID in fileIDs {
            try connection.execute("DELETE FROM store_removals WHERE file_id = $1", fileID)
        }
    }

    /// What rows say of the data files whose ids begin with `prefix` (two hex digits).
    func files(withPrefix prefix: String) throws -> [String: FileUse] {
        var uses: [String: FileUse] = [:]
        for (table, lost, kind) in [
            ("store_parts", "lost", FileUse.Kind.part), ("store_multiparts", "lost", .multipart),
            ("store_objects", "lost", .object),
        ] {
            let sql = "SELECT file_id, \(lost) FROM \(table) WHERE file_id >= $1 AND file_id < $2"
            // "g" comes after every hex digit.
            for (fileID, isLost) in try connection.query(
                sql, prefix, prefix + "g", row: { ($0.text("file_id"), $0.bool("lost")) })
            {
                // An object that was made of parts has the file of its multipart upload, and is the later.
                uses[fileID] = FileUse(kind: kind, isLost: isLost)
            }
        }
        return uses
    }

    /// Whether any row speaks of the file, one that has it removed among them.
    func speaks(of fileID: String) throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM store_objects WHERE file_id = $1)
                OR EXISTS (SELECT 1 FROM store_multiparts WHERE file_id = $1)
                OR EXISTS (SELECT 1 FROM store_parts WHERE file_id = $1)
                OR EXISTS (SELECT 1 FROM store_removals WHERE file_id = $1) AS is_known
            """, fileID
        ) { $0.bool("is_known") } ?? false
    }

    func isObject(fileID: String) throws -> Bool {
        try connection.first("SELECT 1 FROM store_objects WHERE file_id = $1", fileID) { _ in true } ?? false
    }

    /// The file is gone: whatever needs it cannot be completed or read, until it is there again.
    ///
    /// - Returns: whether any row speaks of it.
    @discardableResult
    func markLost(_ fileID: String, _ isLost: Bool) throws -> Bool {
        var count = 0
        for table in ["store_objects", "store_multiparts", "store_parts"] {
            count += try connection.execute("UPDATE \(table) SET lost = $2 WHERE file_id = $1", fileID, isLost)
        }
        return count > 0
    }
}

/// What a data file is, by its row.
struct FileUse: Equatable {
    enum Kind {
        case part
        case multipart
        case object
    }

    let kind: Kind
    let isLost: Bool
}
