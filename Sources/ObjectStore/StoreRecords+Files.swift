import Database

/// Which data files rows speak of, and which are to go.
extension StoreRecords {
    /// Remembers that these files are to be unlinked, in the transaction that removes their rows.
    func scheduleRemoval(_ fileIDs: [String]) throws {
        for fileID in fileIDs {
            try connection.execute("INSERT INTO store_removals (file_id) VALUES ($1) ON CONFLICT DO NOTHING", fileID)
        }
    }

    func scheduledRemovals() throws -> [String] {
        try connection.query("SELECT file_id FROM store_removals") { $0.text(0) }
    }

    func scheduledRemovals(withPrefix prefix: String) throws -> Set<String> {
        // "g" comes after every hex digit.
        let sql = "SELECT file_id FROM store_removals WHERE file_id >= $1 AND file_id < $2"
        return Set(try connection.query(sql, prefix, prefix + "g") { $0.text(0) })
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
            for (fileID, isLost) in try connection.query(sql, prefix, prefix + "g", row: { ($0.text(0), $0.bool(1)) }) {
                // An object that was made of parts has the file of its multipart upload, and is the later.
                uses[fileID] = FileUse(kind: kind, isLost: isLost)
            }
        }
        return uses
    }

    /// The file is gone: whatever needs it cannot be completed or read, until it is there again.
    func markLost(_ fileID: String, _ isLost: Bool) throws {
        try connection.execute("UPDATE store_objects SET lost = $2 WHERE file_id = $1", fileID, isLost)
        try connection.execute("UPDATE store_multiparts SET lost = $2 WHERE file_id = $1", fileID, isLost)
        try connection.execute("UPDATE store_parts SET lost = $2 WHERE file_id = $1", fileID, isLost)
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
