import Database

extension StoreSchema {
    static let usageMigration = Migration(
        name: "store-usage",
        sql: """
            CREATE TABLE store_usage (upload_id TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;

            CREATE TRIGGER store_usage_part_stored AFTER INSERT ON store_parts BEGIN
                INSERT INTO store_usage (upload_id, bytes)
                SELECT upload_id, NEW.size FROM store_multiparts WHERE id = NEW.multipart_id AND completed = 0
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_usage_part_replaced AFTER UPDATE OF size ON store_parts BEGIN
                INSERT INTO store_usage (upload_id, bytes)
                SELECT upload_id, NEW.size - OLD.size FROM store_multiparts
                WHERE id = NEW.multipart_id AND completed = 0
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_usage_part_dropped AFTER DELETE ON store_parts BEGIN
                INSERT INTO store_usage (upload_id, bytes)
                SELECT upload_id, -OLD.size FROM store_multiparts WHERE id = OLD.multipart_id AND completed = 0
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_usage_multipart_ended BEFORE DELETE ON store_multiparts WHEN OLD.completed = 0 BEGIN
                INSERT INTO store_usage (upload_id, bytes)
                SELECT OLD.upload_id, -coalesce(sum(size), 0) FROM store_parts WHERE multipart_id = OLD.id
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_usage_multipart_completed AFTER UPDATE OF completed ON store_multiparts
            WHEN OLD.completed = 0 AND NEW.completed = 1 BEGIN
                INSERT INTO store_usage (upload_id, bytes)
                SELECT OLD.upload_id, -coalesce(sum(size), 0) FROM store_parts WHERE multipart_id = OLD.id
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_usage_object_stored AFTER INSERT ON store_objects BEGIN
                INSERT INTO store_usage (upload_id, bytes) VALUES (NEW.upload_id, NEW.size)
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_usage_object_ended AFTER DELETE ON store_objects BEGIN
                INSERT INTO store_usage (upload_id, bytes) VALUES (OLD.upload_id, -OLD.size)
                ON CONFLICT (upload_id) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;

            INSERT INTO store_usage (upload_id, bytes)
            SELECT upload_id, sum(size) FROM (
                SELECT upload_id, size FROM store_objects
                UNION ALL
                SELECT m.upload_id, p.size FROM store_parts p JOIN store_multiparts m ON m.id = p.multipart_id
                WHERE m.completed = 0
            ) GROUP BY upload_id;
            """)

    static let emptyUsageMigration = Migration(
        name: "store-usage-2",
        sql: "CREATE INDEX store_usage_empty ON store_usage (upload_id) WHERE bytes = 0;")
}

/// The stored bytes of each upload: its object's, and those of parts of multipart uploads that are not completed.
///
/// Triggers update the sum in the transaction of each change. Parts that are deleted with their multipart upload are subtracted
/// before it is deleted, because their own triggers do not find it any more then.
extension StoreRecords {
    /// Deletes sums that are 0; the triggers insert them again.
    ///
    /// - Returns: the number of deleted sums; fewer than `limit` if none is left.
    func forgetEmptyUsage(limit: Int) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM store_usage WHERE upload_id IN (
                SELECT upload_id FROM store_usage WHERE bytes = 0 LIMIT $1)
            """, limit)
    }
}
