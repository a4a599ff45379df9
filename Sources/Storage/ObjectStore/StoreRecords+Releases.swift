import Database

extension StoreSchema {
    static let releaseMigration = Migration(
        name: "store-releases",
        sql: """
            -- Completed multipart uploads whose parts still have files of their own, which are to go.
            CREATE TABLE store_releases (multipart_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
            """)
}

/// Own files of parts of a completed multipart upload, which are not needed any more because Complete copied the bytes into place.
///
/// A client decides how many there are, up to one for each of 10,000 parts, and one transaction that schedules all of them would
/// delay every other write. So the transaction that completes releases some of them and leaves a mark for the rest, which
/// ``Discards`` releases in further transactions.
extension StoreRecords {
    /// Releases at most `limit` files, and leaves a mark if there are more.
    ///
    /// - Returns: the files without a row.
    func releaseFiles(ofPartsOf multipartID: String, limit: Int) throws -> DiscardedRows where C == Connection {
        let result = try release(multipartID, limit: limit)
        if !result.isDone {
            try connection.execute(
                "INSERT INTO store_releases (multipart_id) VALUES ($1) ON CONFLICT DO NOTHING", multipartID)
        }
        return result
    }

    /// Continues a release that left a mark.
    ///
    /// - Returns: `nil` if there is no mark.
    func continueRelease(limit: Int) throws -> DiscardedRows? where C == Connection {
        let next = try connection.first("SELECT multipart_id FROM store_releases LIMIT 1") { $0.text("multipart_id") }
        guard let next else { return nil }
        let result = try release(next, limit: limit)
        if result.isDone { try connection.execute("DELETE FROM store_releases WHERE multipart_id = $1", next) }
        return result
    }

    func hasReleases() throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_releases LIMIT 1")
    }

    private func release(_ multipartID: String, limit: Int) throws -> DiscardedRows where C == Connection {
        let parts = try connection.query(
            """
            SELECT number, file_id FROM store_parts
            WHERE multipart_id = $1 AND file_id IS NOT NULL AND lost = 0 ORDER BY number LIMIT $2
            """, multipartID, limit
        ) { (number: $0.int("number"), fileID: $0.text("file_id")) }
        if let last = parts.last {
            try connection.execute(
                """
                UPDATE store_parts SET file_id = NULL
                WHERE multipart_id = $1 AND number <= $2 AND file_id IS NOT NULL AND lost = 0
                """, multipartID, last.number)
        }
        return DiscardedRows(files: parts.map(\.fileID), rows: parts.count, isDone: parts.count < limit)
    }
}
