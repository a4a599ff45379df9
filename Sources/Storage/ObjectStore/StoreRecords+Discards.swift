import Database

/// Ended multipart uploads: their selection, and the deletion of their rows.
///
/// A device decides how many multipart uploads and parts it makes, and one transaction that deletes all of them would delay every
/// other write. So a transaction deletes a limited number of rows and leaves a mark for the rest, which is invisible from then on;
/// ``Discards`` deletes it in further transactions.
extension StoreRecords {
    /// A selection of multipart uploads to delete.
    enum Discard: Sendable, Equatable {
        /// All of an upload except the one of its object.
        case others(uploadID: String)
        case one(id: String, uploadID: String)
    }

    /// The result of one transaction's deletions.
    struct Discarded {
        /// Files that have no row any more.
        var files: [String] = []
        /// The number of deleted multipart uploads and parts.
        var rows = 0
        /// Whether no row is left.
        var isDone = true
    }

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

    /// An SQL condition: the row `m` of `store_multiparts` has not ended.
    static let hasNotEnded = """
        NOT EXISTS (
            SELECT 1 FROM store_discards d WHERE d.upload_id = m.upload_id
            AND (d.multipart_id = m.id OR (d.multipart_id = '' AND m.completed = 0)))
        """

    private static let partsOfSome = deleteParts(of: some)
    private static let someMultiparts = "DELETE FROM store_multiparts WHERE id IN (\(some)) RETURNING file_id"
    private static let partsOfOne = deleteParts(of: one)
    private static let oneMultipart = "DELETE FROM store_multiparts WHERE id IN (\(one)) RETURNING file_id"

    /// Selects the first `$3` multipart uploads of ``Discard/others(uploadID:)``.
    private static let some = """
        SELECT m.id FROM store_multiparts m WHERE m.upload_id = $1 AND $2 = ''
        AND NOT EXISTS (SELECT 1 FROM store_objects o WHERE o.multipart_id = m.id)
        ORDER BY m.created_at, m.id LIMIT $3
        """
    /// Selects the multipart upload of ``Discard/one(id:uploadID:)``.
    private static let one = """
        SELECT m.id FROM store_multiparts m WHERE m.upload_id = $1 AND m.id = $2
        AND NOT EXISTS (SELECT 1 FROM store_objects o WHERE o.multipart_id = m.id) LIMIT $3
        """

    private static func deleteParts(of multiparts: String) -> String {
        """
        DELETE FROM store_parts WHERE (multipart_id, number) IN (
            SELECT p.multipart_id, p.number FROM (\(multiparts)) ended
            JOIN store_parts p ON p.multipart_id = ended.id LIMIT $3)
        RETURNING file_id
        """
    }

    /// The statements of ``discard(_:limit:)``.
    static let discardStatements = [partsOfSome, someMultiparts, partsOfOne, oneMultipart]

    /// Deletes at most `limit` parts and as many multipart uploads, and leaves a mark if there are more.
    func discard(_ discard: Discard, limit: Int) throws -> Discarded {
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
    func continueDiscard(limit: Int) throws -> Discarded? {
        let next = try connection.first("SELECT upload_id, multipart_id FROM store_discards LIMIT 1") { row in
            let (uploadID, id) = (row.text("upload_id"), row.text("multipart_id"))
            return id.isEmpty ? Discard.others(uploadID: uploadID) : .one(id: id, uploadID: uploadID)
        }
        guard let next else { return nil }
        let result = try delete(next, limit: limit)
        if result.isDone { try forget(next) }
        return result
    }

    func hasDiscards() throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_discards LIMIT 1")
    }

    func forget(_ discard: Discard) throws {
        try connection.execute(
            "DELETE FROM store_discards WHERE upload_id = $1 AND multipart_id = $2", discard.uploadID,
            discard.multipartID)
    }

    /// Deletes parts first, because their triggers read the multipart uploads; those without parts are deleted as a set.
    private func delete(_ discard: Discard, limit: Int) throws -> Discarded {
        guard limit > 0 else { return Discarded(isDone: false) }
        let isOne = discard != .others(uploadID: discard.uploadID)
        let parts = try connection.query(
            isOne ? Self.partsOfOne : Self.partsOfSome, discard.uploadID, discard.multipartID, limit
        ) { $0.optionalText("file_id") }
        var result = Discarded(files: parts.compactMap(\.self), rows: parts.count, isDone: false)
        if parts.count == limit { return result }
        let multiparts = try connection.query(
            isOne ? Self.oneMultipart : Self.someMultiparts, discard.uploadID, discard.multipartID, limit
        ) { $0.text("file_id") }
        result.files += multiparts
        result.rows += multiparts.count
        result.isDone = isOne || multiparts.count < limit
        return result
    }
}

extension StoreRecords.Discard {
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
