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
    /// - Parameter actor: the author, as in the audit log.
    func trash(_ object: CatalogObject, by actor: String, reason: String, at now: UnixTime) throws
    where C == Connection {
        try SearchRecords(connection).remove(objectID: object.id)
        try connection.execute(
            "UPDATE objects SET trashed_at = $2, trashed_by = $3, trash_reason = $4 WHERE id = $1", object.id,
            now.microseconds, actor, reason)
    }

    /// Removes an object from the trash.
    func restore(_ object: CatalogObject, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE objects SET trashed_at = NULL, trashed_by = NULL, trash_reason = NULL, restored_at = $2 WHERE id = $1
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
