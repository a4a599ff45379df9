import Database

/// The tables of ``UsageRecords``.
enum UsageSchema {
    static let migration = Migration(
        name: "uploads-usage",
        sql: """
            -- owner: site/ID or device/ID. bytes: stored and of parts under way; objects: verified; uploads: under way.
            CREATE TABLE upload_usage (
                owner TEXT PRIMARY KEY,
                bytes INTEGER NOT NULL,
                objects INTEGER NOT NULL,
                uploads INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE VIEW upload_owners AS
                SELECT u.id AS upload_id, 'site/' || l.site_id AS owner
                FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id
                UNION ALL
                SELECT u.id, 'device/' || l.device_id
                FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id WHERE l.device_id IS NOT NULL;

            CREATE TRIGGER upload_usage_bytes_new AFTER INSERT ON store_usage BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, NEW.bytes, 0, 0 FROM upload_owners WHERE upload_id = NEW.upload_id
                ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER upload_usage_bytes_changed AFTER UPDATE OF bytes ON store_usage BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, NEW.bytes - OLD.bytes, 0, 0 FROM upload_owners WHERE upload_id = NEW.upload_id
                ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER upload_usage_object_verified AFTER INSERT ON objects BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, 0, 1, 0 FROM upload_owners WHERE upload_id = NEW.upload_id
                ON CONFLICT (owner) DO UPDATE SET objects = objects + 1;
            END;
            CREATE TRIGGER upload_usage_object_deleted AFTER DELETE ON objects BEGIN
                UPDATE upload_usage SET objects = objects - 1
                WHERE owner IN (SELECT owner FROM upload_owners WHERE upload_id = OLD.upload_id);
            END;
            CREATE TRIGGER upload_usage_upload_begun AFTER INSERT ON uploads
            WHEN NEW.state = 1 AND NEW.is_swept = 0 BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, 0, 0, 1 FROM upload_owners WHERE upload_id = NEW.id
                ON CONFLICT (owner) DO UPDATE SET uploads = uploads + 1;
            END;
            CREATE TRIGGER upload_usage_upload_ended AFTER UPDATE OF state, is_swept ON uploads
            WHEN (OLD.state = 1 AND OLD.is_swept = 0) AND NOT (NEW.state = 1 AND NEW.is_swept = 0) BEGIN
                UPDATE upload_usage SET uploads = uploads - 1
                WHERE owner IN (SELECT owner FROM upload_owners WHERE upload_id = NEW.id);
            END;

            INSERT INTO upload_usage (owner, bytes, objects, uploads)
            SELECT w.owner, sum(coalesce(s.bytes, 0)), count(o.id), sum(u.state = 1 AND u.is_swept = 0)
            FROM upload_owners w JOIN uploads u ON u.id = w.upload_id
                LEFT JOIN store_usage s ON s.upload_id = u.id LEFT JOIN objects o ON o.upload_id = u.id
            GROUP BY w.owner;
            """)

    /// Counts tags in the owner's bytes as well: a small object may have half a megabyte of them.
    static let tagsMigration = Migration(
        name: "uploads-usage-2",
        sql: """
            DROP TRIGGER upload_usage_object_verified;
            DROP TRIGGER upload_usage_object_deleted;
            CREATE TRIGGER upload_usage_object_verified AFTER INSERT ON objects BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, NEW.tag_bytes, 1, 0 FROM upload_owners WHERE upload_id = NEW.upload_id
                ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes, objects = objects + 1;
            END;
            CREATE TRIGGER upload_usage_object_deleted AFTER DELETE ON objects BEGIN
                UPDATE upload_usage SET bytes = bytes - OLD.tag_bytes, objects = objects - 1
                WHERE owner IN (SELECT owner FROM upload_owners WHERE upload_id = OLD.upload_id);
            END;
            """)

    /// Counts changes of a finished object's tags.
    static let changedTagsMigration = Migration(
        name: "uploads-usage-3",
        sql: """
            CREATE TRIGGER upload_usage_object_changed AFTER UPDATE OF tag_bytes ON objects
            WHEN NEW.tag_bytes <> OLD.tag_bytes BEGIN
                UPDATE upload_usage SET bytes = bytes + NEW.tag_bytes - OLD.tag_bytes
                WHERE owner IN (SELECT owner FROM upload_owners WHERE upload_id = NEW.upload_id);
            END;
            """)

    /// Counts tags with what they take in the database, which is several times their length.
    static let tagCostMigration = Migration(
        name: "uploads-usage-4",
        sql: """
            DROP TRIGGER upload_usage_object_verified;
            DROP TRIGGER upload_usage_object_deleted;
            DROP TRIGGER upload_usage_object_changed;
            -- Objects of versions that did not record the cost count as before, with tag_bytes, which is less.
            CREATE TRIGGER upload_usage_object_verified AFTER INSERT ON objects BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, max(NEW.tag_bytes, NEW.tag_cost), 1, 0 FROM upload_owners WHERE upload_id = NEW.upload_id
                ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes, objects = objects + 1;
            END;
            CREATE TRIGGER upload_usage_object_deleted AFTER DELETE ON objects BEGIN
                UPDATE upload_usage SET bytes = bytes - max(OLD.tag_bytes, OLD.tag_cost), objects = objects - 1
                WHERE owner IN (SELECT owner FROM upload_owners WHERE upload_id = OLD.upload_id);
            END;
            CREATE TRIGGER upload_usage_object_changed AFTER UPDATE OF tag_bytes, tag_cost ON objects
            WHEN max(NEW.tag_bytes, NEW.tag_cost) <> max(OLD.tag_bytes, OLD.tag_cost) BEGIN
                UPDATE upload_usage
                SET bytes = bytes + max(NEW.tag_bytes, NEW.tag_cost) - max(OLD.tag_bytes, OLD.tag_cost)
                WHERE owner IN (SELECT owner FROM upload_owners WHERE upload_id = NEW.upload_id);
            END;
            """)
}

/// The SQL of quotas.
///
/// Triggers update the usage of each device and site in the transaction of each change. They rely on an upload's owner never
/// changing.
struct UsageRecords<C: ReadConnection> {
    /// Deletes the rows of owners without any usage; the triggers insert them again.
    ///
    /// - Returns: the number of deleted rows; fewer than `limit` if none is left.
    func forgetEmpty(limit: Int) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM upload_usage WHERE owner IN (
                SELECT owner FROM upload_usage WHERE bytes = 0 AND objects = 0 AND uploads = 0 LIMIT $1)
            """, limit)
    }

    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func usage(device id: String) throws -> Usage { try usage("device/\(id)") }

    func usage(site id: Int64) throws -> Usage { try usage("site/\(id)") }

    private func usage(_ owner: String) throws -> Usage {
        let newest =
            connection.isOnServer
            ? "SELECT bytes, objects, uploads FROM upload_usage_newest($1)"
            : "SELECT bytes, objects, uploads FROM upload_usage WHERE owner = $1"
        return try connection.first(newest, owner) {
            Usage(bytes: $0.int64("bytes"), objects: $0.int64("objects"), uploads: $0.int64("uploads"))
        } ?? Usage()
    }
}
