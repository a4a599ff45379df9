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
}
