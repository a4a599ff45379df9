import Basics
import Database

/// The author and the reason of an object's move to the trash.
struct Trashing: Sendable, Hashable {
    /// The author, as in the audit log.
    let actor: String
    let reason: String
    /// The time of its permanent deletion, by its organization's current setting.
    let purgeAt: UnixTime
}

extension ObjectSchema {
    static let trashMigration = Migration(
        name: "catalog-6",
        sql: """
            -- trashed_by, trash_reason: who moved it to the trash, and why. restored_at: when it left the trash; retention
            -- counts its age from then.
            ALTER TABLE objects ADD COLUMN trashed_by TEXT;
            ALTER TABLE objects ADD COLUMN trash_reason TEXT;
            ALTER TABLE objects ADD COLUMN restored_at INTEGER;

            -- The trash has indexes of its own, so that what is in it costs lists and retention nothing.
            DROP INDEX objects_by_organization;
            CREATE INDEX objects_by_organization ON objects (organization_id, position) WHERE trashed_at IS NULL;
            DROP INDEX objects_by_age;
            CREATE INDEX objects_by_age
                ON objects (organization_id, verified_at, position, size, restored_at, trashed_at)
                WHERE trashed_at IS NULL;
            CREATE INDEX objects_by_trash_age ON objects (organization_id, trashed_at, size)
                WHERE trashed_at IS NOT NULL;

            -- For how many days an organization's objects stay in the trash; no row = the default.
            CREATE TABLE trash_settings (
                organization_id INTEGER PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
                days INTEGER NOT NULL
            ) STRICT;
            """)
}

extension ObjectRecords {
    /// Moves an object that is not in the trash there.
    ///
    /// - Parameter order: its author, its reason, and the operation that ``trashed(by:below:limit:)`` finds it by.
    func trash(_ object: CatalogObject, _ order: ObjectRemoval.Order, at now: UnixTime) throws
    where C == Connection {
        try SearchRecords(connection).remove(objectID: object.id)
        try connection.execute(
            """
            UPDATE objects SET trashed_at = $2, trashed_by = $3, trash_reason = $4, trash_operation_id = $5 WHERE id = $1
            """, object.id, now.microseconds, order.actor, order.reason, order.operationID)
    }

    /// Removes an object from the trash.
    func restore(_ object: CatalogObject, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE objects SET trashed_at = NULL, trashed_by = NULL, trash_reason = NULL, trash_operation_id = NULL,
                restored_at = $2
            WHERE id = $1
            """, object.id, now.microseconds)
        try SearchRecords(connection).enter(objectID: object.id)
    }

    /// - Returns: `nil` if the object is not in the trash.
    func trashing(of object: CatalogObject) throws -> Trashing? {
        guard let trashedAt = object.trashedAt else { return nil }
        let purgeAt = try trashGrace(organizationID: object.owner.organizationID).end(from: trashedAt)
        return try connection.first("SELECT trashed_by, trash_reason FROM objects WHERE id = $1", object.id) {
            Trashing(
                actor: $0.optionalText("trashed_by") ?? "", reason: $0.optionalText("trash_reason") ?? "",
                purgeAt: purgeAt)
        }
    }

    /// Returns objects whose time in the trash is over, the oldest entries first.
    func purgeable(
        organizationID: Int64, _ grace: TrashGrace, _ permit: DeletionPermit, count: Int
    ) throws -> [CatalogObject] {
        let limit = grace.limit(at: try permit.now())
        return try connection.query(
            """
            SELECT \(CatalogObject.columns) FROM objects o
            WHERE o.organization_id = $1 AND \(permit.isBefore("o.trashed_at", "$2")) ORDER BY o.trashed_at LIMIT $3
            """, organizationID, limit.microseconds, count, row: CatalogObject.init)
    }

    /// Returns objects that an operation moved to the trash and that are still there, newest first.
    ///
    /// - Parameter below: only objects below this position.
    func trashed(by operationID: String, below position: Int64, limit: Int) throws -> [ObjectRow] {
        try connection.query(
            """
            SELECT \(CatalogObject.columns) FROM objects o WHERE o.trash_operation_id = $1 AND o.position < $2
            ORDER BY o.position DESC LIMIT $3
            """, operationID, position, limit, row: ObjectRow.init)
    }

    /// Counts the objects that an operation moved to the trash and that are still there, by the index alone.
    func countTrashed(by operationID: String) throws -> Amount {
        try connection.first(
            """
            SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM objects WHERE trash_operation_id = $1
            """, operationID
        ) { Amount(objects: $0.int64("objects"), bytes: $0.int64("bytes")) } ?? Amount()
    }

    /// Counts the objects moved to the trash before `limit`, and their bytes, by the index alone.
    ///
    /// - Parameter limit: `nil` = all that are in the trash.
    func countTrash(organizationID: Int64, before limit: UnixTime? = nil) throws -> Amount {
        try connection.first(
            """
            SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes FROM objects
            WHERE organization_id = $1 AND trashed_at < $2
            """, organizationID, limit?.microseconds ?? .max
        ) { Amount(objects: $0.int64("objects"), bytes: $0.int64("bytes")) } ?? Amount()
    }

    func trashGrace(organizationID: Int64) throws -> TrashGrace {
        let days = try connection.first("SELECT days FROM trash_settings WHERE organization_id = $1", organizationID) {
            Int32(clamping: $0.int64("days"))
        }
        return TrashGrace(days: days ?? TrashGrace.defaultDays)
    }

    func setTrashGrace(_ grace: TrashGrace, organizationID: Int64) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO trash_settings (organization_id, days) VALUES ($1, $2)
            ON CONFLICT (organization_id) DO UPDATE SET days = excluded.days
            """, organizationID, grace.days)
    }
}
