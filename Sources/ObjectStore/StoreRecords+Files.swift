import Database

/// Which data files rows speak of, and which are to go.
extension StoreRecords {
    /// The files of an open multipart upload: its own, and those of parts that were sent again.
    func files(of multipart: MultipartRecord) throws -> [String] {
        try [multipart.fileID]
            + connection.query(
                "SELECT file_id FROM store_parts WHERE multipart_id = $1 AND file_id IS NOT NULL", multipart.id
            ) { $0.text(0) }
    }

    /// Remembers that these files are to be unlinked, in the transaction that removes their rows.
    func scheduleRemoval(_ fileIDs: [String]) throws -> Discarded {
        for fileID in fileIDs {
            try connection.execute("INSERT INTO store_removals (file_id) VALUES ($1) ON CONFLICT DO NOTHING", fileID)
        }
        return Discarded(fileIDs: fileIDs)
    }

    func scheduledRemovals() throws -> [String] {
        try connection.query("SELECT file_id FROM store_removals") { $0.text(0) }
    }

    func removed(_ fileIDs: [String]) throws {
        for fileID in fileIDs {
            try connection.execute("DELETE FROM store_removals WHERE file_id = $1", fileID)
        }
    }

    /// What rows say of the data files whose ids begin with `prefix` (two hex digits).
    func files(withPrefix prefix: String) throws -> [String: FileUse] {
        var uses: [String: FileUse] = [:]
        let end = prefix + "g"
        let queries: [(String, FileUse)] = [
            ("SELECT file_id FROM store_parts WHERE file_id >= $1 AND file_id < $2", .part),
            ("SELECT file_id FROM store_multiparts WHERE file_id >= $1 AND file_id < $2", .multipart),
            ("SELECT file_id FROM store_objects WHERE file_id >= $1 AND file_id < $2", .object),
        ]
        for (sql, use) in queries {
            for fileID in try connection.query(sql, prefix, end, row: { $0.text(0) }) {
                // An object that was made of parts has the file of its multipart upload.
                uses[fileID] = use
            }
        }
        return uses
    }

    /// The file is gone: whatever needs it cannot be completed or read any more.
    func markLost(_ fileID: String) throws {
        try connection.execute("UPDATE store_objects SET lost = 1 WHERE file_id = $1", fileID)
        try connection.execute("UPDATE store_multiparts SET lost = 1 WHERE file_id = $1", fileID)
        try connection.execute("DELETE FROM store_parts WHERE file_id = $1", fileID)
    }
}

/// What a data file is, by its row.
enum FileUse {
    case part
    case multipart
    case object
}
