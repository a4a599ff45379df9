import Database

extension StoreSchema {
    static let discardMigration = Migration(
        name: "store-discards",
        sql: """
            -- Multipart uploads that have ended and whose rows are still to be deleted. multipart_id: '' = all of the
            -- upload but the one that its object is made of.
            CREATE TABLE store_discards (
                upload_id TEXT NOT NULL,
                multipart_id TEXT NOT NULL,
                PRIMARY KEY (upload_id, multipart_id)
            ) STRICT, WITHOUT ROWID;
            """)
}

/// The statements and conditions of the store that several files, or tests, use.
enum StoreStatements {
    /// An SQL condition: the row `m` of `store_multiparts` has not ended.
    static let hasNotEnded = """
        NOT EXISTS (
            SELECT 1 FROM store_discards d WHERE d.upload_id = m.upload_id
            AND (d.multipart_id = m.id OR (d.multipart_id = '' AND m.completed = 0)))
        """

    /// The statements of ``StoreRecords/discard(_:limit:)``.
    static let discard = [partsOfSome, someMultiparts, partsOfOne, oneMultipart]
}

private let partsOfSome = deleteParts(of: some)
private let someMultiparts = deleteMultiparts(of: some)
private let partsOfOne = deleteParts(of: one)
private let oneMultipart = deleteMultiparts(of: one)

/// Selects the first `$3` multipart uploads of ``MultipartSelection/others(uploadID:)``.
private let some = """
    SELECT m.id FROM store_multiparts m WHERE m.upload_id = $1 AND $2 = ''
    AND NOT EXISTS (SELECT 1 FROM store_objects o WHERE o.multipart_id = m.id)
    ORDER BY m.created_at, m.id LIMIT $3
    """

/// Selects the multipart upload of ``MultipartSelection/one(id:uploadID:)``.
private let one = """
    SELECT m.id FROM store_multiparts m WHERE m.upload_id = $1 AND m.id = $2
    AND NOT EXISTS (SELECT 1 FROM store_objects o WHERE o.multipart_id = m.id) LIMIT $3
    """

private func deleteParts(of multiparts: String) -> String {
    """
    DELETE FROM store_parts WHERE (multipart_id, number) IN (
        SELECT p.multipart_id, p.number FROM (\(multiparts)) ended
        JOIN store_parts p ON p.multipart_id = ended.id LIMIT $3)
    RETURNING file_id
    """
}

/// Returns the statement that deletes multipart uploads without parts; the parts of others would be deleted with them.
private func deleteMultiparts(of multiparts: String) -> String {
    """
    DELETE FROM store_multiparts WHERE id IN (\(multiparts))
    AND NOT EXISTS (SELECT 1 FROM store_parts p WHERE p.multipart_id = store_multiparts.id) RETURNING file_id
    """
}

/// A selection of multipart uploads to delete.
enum MultipartSelection: Sendable, Equatable {
    /// All of an upload except the one of its object.
    case others(uploadID: String)
    case one(id: String, uploadID: String)
}

/// The result of one transaction's deletions.
package struct DiscardedRows {
    /// Files that have no row any more.
    package var files: [String] = []
    /// The number of deleted multipart uploads and parts.
    var rows = 0
    /// Whether no row is left.
    var isDone = true
}

/// Ended multipart uploads: their selection, and the deletion of their rows.
///
/// A device decides how many multipart uploads and parts it makes, and one transaction that deletes all of them would delay every
/// other write. So a transaction deletes a limited number of rows and leaves a mark for the rest, which is invisible from then on;
/// ``Discards`` deletes it in further transactions.
extension StoreRecords {
    /// Deletes at most `limit` parts and as many multipart uploads, and leaves a mark if there are more.
    func discard(_ discard: MultipartSelection, limit: Int) throws -> DiscardedRows where C == Connection {
        let result = try delete(discard, limit: limit)
        if !result.isDone {
            try connection.execute(
                "INSERT INTO store_discards (upload_id, multipart_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                discard.uploadID, discard.multipartID)
        }
        return result
    }

    /// Continues a discard that left a mark.
    ///
    /// - Returns: the deleted rows; `nil` if there is no mark.
    func continueDiscard(limit: Int) throws -> DiscardedRows? where C == Connection {
        let next = try connection.first("SELECT upload_id, multipart_id FROM store_discards LIMIT 1") { row in
            let (uploadID, id) = (row.text("upload_id"), row.text("multipart_id"))
            return id.isEmpty ? MultipartSelection.others(uploadID: uploadID) : .one(id: id, uploadID: uploadID)
        }
        guard let next else { return nil }
        let result = try delete(next, limit: limit)
        if result.isDone { try forget(next) }
        return result
    }

    func hasDiscards() throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_discards LIMIT 1")
    }

    func forget(_ discard: MultipartSelection) throws where C == Connection {
        try connection.execute(
            "DELETE FROM store_discards WHERE upload_id = $1 AND multipart_id = $2", discard.uploadID,
            discard.multipartID)
    }

    /// Deletes parts first, because their triggers read the multipart uploads; those without parts are deleted as a set.
    private func delete(_ discard: MultipartSelection, limit: Int) throws -> DiscardedRows where C == Connection {
        guard limit > 0 else { return DiscardedRows(isDone: false) }
        let isSingleUpload = discard != .others(uploadID: discard.uploadID)
        func files(_ sql: String) throws -> [String?] {
            try connection.query(sql, discard.uploadID, discard.multipartID, limit) { $0.optionalText("file_id") }
        }
        let (ofParts, ofMultiparts) = isSingleUpload ? (partsOfOne, oneMultipart) : (partsOfSome, someMultiparts)
        try connection.together {
            _ = try files(ofParts)
            _ = try files(ofMultiparts)
        }
        let parts = try files(ofParts)
        let multiparts = try files(ofMultiparts)
        return DiscardedRows(
            files: (parts + multiparts).compactMap(\.self), rows: parts.count + multiparts.count,
            isDone: parts.count < limit && (isSingleUpload || multiparts.count < limit))
    }
}

extension MultipartSelection {
    fileprivate var uploadID: String {
        switch self {
        case .others(let uploadID), .one(_, let uploadID): uploadID
        }
    }

    fileprivate var multipartID: String {
        switch self {
        case .others: ""
        case .one(let id, _): id
        }
    }
}

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
