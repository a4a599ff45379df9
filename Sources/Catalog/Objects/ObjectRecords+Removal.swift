import Basics
package import Database

/// The retention of an organization's objects.
struct Retention: Sendable, Hashable {
    let organizationID: Int64
    let days: Int32

    /// Returns the time before which verified objects are expired.
    func limit(at now: UnixTime) -> UnixTime { now.subtracting(.days(Int64(days))) }
}

/// An object beyond its organization's retention.
struct ExpiredObject: Sendable {
    let object: CatalogObject
    let name: String
    /// The time from which its age counts.
    let keptSince: UnixTime
}

extension ObjectRecords {
    /// - Parameter id: a file id or the id of an upload.
    func wasDeleted(id: String, organizationID: Int64) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM deleted_objects WHERE (file_id = $1 OR upload_id = $1) AND organization_id = $2", id,
            organizationID)
    }

    /// Replaces the object and its tags by a record of the deletion.
    ///
    /// - Parameter actor: the author, as in the audit log.
    func bury(_ object: CatalogObject, by actor: String, reason: String, at now: UnixTime) throws
    where C == Connection {
        let owner = object.owner
        try connection.execute(
            """
            INSERT INTO deleted_objects (file_id, object_id, upload_id, organization_id, site_id, device_id, size, etag,
                verified_at, deleted_at, deleted_by, reason, path_digest, crc64)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            """, object.fileID, object.id, object.uploadID, owner.organizationID, owner.siteID, owner.deviceID,
            object.content.size, object.content.etag, object.times.verifiedAt.microseconds, now.microseconds, actor,
            reason, object.description.path.map(StoredFileSchema.digest),
            object.description.crc64.map { Int64(bitPattern: $0) })
        try SearchRecords(connection).remove(objectID: object.id)
        try connection.execute("DELETE FROM objects WHERE id = $1", object.id)
    }

    /// Removes the record of a deletion, because the object exists again.
    package func forgetDeletion(fileID: String) throws where C == Connection {
        try connection.execute("DELETE FROM deleted_objects WHERE file_id = $1", fileID)
    }

    /// Removes the records of objects that were deleted at least `age` ago, oldest first.
    ///
    /// - Returns: the number of removed records; fewer than `count` if none is left.
    func forgetDeleted(olderThan age: Duration, _ permit: DeletionPermit, count: Int) throws -> Int
    where C == Connection {
        let limit = try permit.now().subtracting(age)
        return try connection.execute(
            """
            DELETE FROM deleted_objects WHERE file_id IN (
                SELECT file_id FROM deleted_objects WHERE \(permit.isBefore("deleted_at", "$1")) ORDER BY deleted_at LIMIT $2)
            """, limit.microseconds, count)
    }

    /// Returns objects beyond their organization's retention, oldest first. The age of a restored object counts from its
    /// restoration.
    func expired(_ retention: Retention, _ permit: DeletionPermit, count: Int) throws -> [CatalogObject] {
        let limit = retention.limit(at: try permit.now())
        return try connection.query(
            """
            SELECT \(CatalogObject.columns) FROM objects o
            WHERE o.organization_id = $1 AND \(permit.isBefore("o.verified_at", "$2")) AND o.trashed_at IS NULL
                AND (o.restored_at IS NULL OR \(permit.isBefore("o.restored_at", "$2")))
            ORDER BY o.verified_at LIMIT $3
            """, retention.organizationID, limit.microseconds, count, row: CatalogObject.init)
    }

    /// Counts the objects, and their bytes, that were verified or restored before `limit`, by the index alone.
    func countExpired(organizationID: Int64, before limit: UnixTime) throws -> (objects: Int64, bytes: Int64) {
        try connection.first(
            """
            SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM objects
            WHERE organization_id = $1 AND verified_at < $2 AND trashed_at IS NULL
                AND (restored_at IS NULL OR restored_at < $2)
            """, organizationID, limit.microseconds
        ) { ($0.int64("objects"), $0.int64("bytes")) } ?? (0, 0)
    }

    /// Returns the positions of the objects that ``countExpired(organizationID:before:)`` counts, the oldest first.
    func firstExpired(organizationID: Int64, before limit: UnixTime, count: Int) throws -> [Int64] {
        try connection.query(
            """
            SELECT position FROM objects
            WHERE organization_id = $1 AND verified_at < $2 AND trashed_at IS NULL
                AND (restored_at IS NULL OR restored_at < $2)
            ORDER BY verified_at, position LIMIT $3
            """, organizationID, limit.microseconds, count
        ) { $0.int64("position") }
    }

    /// Returns the objects at a few positions, in their order.
    func expiredObjects(at positions: [Int64]) throws -> [ExpiredObject] {
        try positions.compactMap { position in
            let found = try connection.first(
                """
                SELECT \(CatalogObject.columns), coalesce(o.restored_at, o.verified_at) AS kept_since FROM objects o
                WHERE o.position = $1
                """, position
            ) { (object: CatalogObject($0), keptSince: $0.time("kept_since")) }
            return try found.map { object, keptSince in
                ExpiredObject(object: object, name: try name(of: object).text, keptSince: keptSince)
            }
        }
    }

    /// Returns corrupted objects outside the trash, newest first.
    ///
    /// - Parameters:
    ///   - scope: the organization; `nil` = all.
    ///   - after: the position after which the list begins; `nil` = at the newest.
    func bad(scope: Int64?, after: Int64?, limit: PageLimit) throws -> PageRows<ObjectRow> {
        try connection.page(
            limit,
            """
            SELECT \(CatalogObject.columns) FROM objects o
            WHERE o.bad_at IS NOT NULL AND o.trashed_at IS NULL AND o.position < $2 AND o.organization_id = coalesce($1, o.organization_id)
            ORDER BY o.position DESC LIMIT $3
            """, scope, after ?? .max, limit.statementRows, row: ObjectRow.init)
    }
}
