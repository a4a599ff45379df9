package import Basics
package import Database
import StoreProtocol

extension StoreSchema {
    static let ownerMigration = Migration(
        name: "store-owners",
        sql: """
            -- owner: the id of a static key.
            CREATE TABLE store_owners (upload_id TEXT PRIMARY KEY, owner TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE INDEX store_owners_by_owner ON store_owners (owner, upload_id);
            CREATE TABLE store_owner_usage (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            -- When the scrubber found the bytes of an object that no catalog lists to be wrong; NULL = they are right.
            ALTER TABLE store_objects ADD COLUMN bad_at INTEGER;

            CREATE TRIGGER store_owner_new AFTER INSERT ON store_owners BEGIN
                INSERT INTO store_owner_usage (owner, bytes)
                VALUES (NEW.owner, coalesce((SELECT bytes FROM store_usage WHERE upload_id = NEW.upload_id), 0))
                ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_owner_changed AFTER UPDATE OF owner ON store_owners WHEN NEW.owner <> OLD.owner BEGIN
                UPDATE store_owner_usage
                SET bytes = bytes - coalesce((SELECT bytes FROM store_usage WHERE upload_id = OLD.upload_id), 0)
                WHERE owner = OLD.owner;
                INSERT INTO store_owner_usage (owner, bytes)
                VALUES (NEW.owner, coalesce((SELECT bytes FROM store_usage WHERE upload_id = NEW.upload_id), 0))
                ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER store_owner_usage_new AFTER INSERT ON store_usage WHEN NEW.upload_id GLOB 'direct-*' BEGIN
                UPDATE store_owner_usage SET bytes = bytes + NEW.bytes
                WHERE owner = (SELECT owner FROM store_owners WHERE upload_id = NEW.upload_id);
            END;
            CREATE TRIGGER store_owner_usage_changed AFTER UPDATE OF bytes ON store_usage
            WHEN NEW.upload_id GLOB 'direct-*' BEGIN
                UPDATE store_owner_usage SET bytes = bytes + NEW.bytes - OLD.bytes
                WHERE owner = (SELECT owner FROM store_owners WHERE upload_id = NEW.upload_id);
            END;
            CREATE TRIGGER store_owner_usage_ended AFTER DELETE ON store_usage WHEN OLD.upload_id GLOB 'direct-*' BEGIN
                DELETE FROM store_owners WHERE upload_id = OLD.upload_id;
            END;
            """)
}

/// Which static key stored an object last, and how many bytes each holds.
///
/// Triggers keep the sums, from those of each object and its multipart uploads (`store_usage`), in the transaction of whatever
/// changes them.
extension StoreRecords {
    /// The object at an id is stored by that key from now on.
    func setOwner(_ owner: String, uploadID: String) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_owners (upload_id, owner) VALUES ($1, $2)
            ON CONFLICT (upload_id) DO UPDATE SET owner = excluded.owner WHERE store_owners.owner <> excluded.owner
            """, uploadID, owner)
    }

    /// Bytes of what a static key stored, and of parts of its multipart uploads in progress.
    func usage(owner: String) throws -> Int64 {
        let newest =
            connection.isOnServer
            ? "SELECT bytes FROM store_owner_usage_newest($1)" : "SELECT bytes FROM store_owner_usage WHERE owner = $1"
        return try connection.first(newest, owner) { $0.int64("bytes") } ?? 0
    }

    /// Objects that a static key stored before `limit`, by their ids.
    func expired(owner: String, before limit: UnixTime, _ permit: DeletionPermit, limit count: Int) throws -> [String] {
        try connection.query(
            """
            SELECT o.upload_id FROM store_owners w JOIN store_objects o ON o.upload_id = w.upload_id
            WHERE w.owner = $1 AND \(permit.isBefore("o.created_at", "$2")) LIMIT $3
            """, owner, limit.microseconds, count
        ) { $0.text("upload_id") }
    }

    /// Objects that no catalog lists, in the order of their ids.
    func directObjects(after uploadID: String, limit: Int) throws -> [DirectObjectState] {
        // "." follows "-".
        try connection.query(
            """
            SELECT upload_id, bucket, object_key, size, bad_at FROM store_objects
            WHERE upload_id > $1 AND upload_id < 'direct.' ORDER BY upload_id LIMIT $2
            """, max(uploadID, "direct-"), limit
        ) { row in
            DirectObjectState(
                uploadID: row.text("upload_id"), name: "\(row.text("bucket"))/\(row.text("object_key"))",
                size: row.int64("size"), isBad: row.optionalInt64("bad_at") != nil)
        }
    }

    func markBad(_ uploadID: String, at time: UnixTime?) throws where C == Connection {
        try connection.execute(
            "UPDATE store_objects SET bad_at = $2 WHERE upload_id = $1", uploadID, time?.microseconds)
    }

    func countBad() throws -> Int {
        try connection.first("SELECT count(*) AS bad FROM store_objects WHERE bad_at IS NOT NULL") { $0.int("bad") }
            ?? 0
    }
}

/// An object of a static key's as the scrubber sees it.
package struct DirectObjectState: Sendable {
    package let uploadID: String
    /// `bucket/key`
    package let name: String
    /// Bytes.
    package let size: Int64
    package let isBad: Bool
}

extension ObjectStore {
    /// Bytes of what a static key stored.
    package func usage(ofKey id: String, in connection: ReadConnection) throws -> Int64 {
        try StoreRecords(connection).usage(owner: id)
    }

    /// A page of the objects that no catalog lists.
    package func directObjects(after uploadID: String, limit: Int) async throws -> [DirectObjectState] {
        try await database.read { try StoreRecords($0).directObjects(after: uploadID, limit: limit) }
    }

    /// Remembers what the scrubber found of an object that no catalog lists.
    ///
    /// - Parameter time: `nil` = its bytes are right.
    package func markBad(_ uploadID: String, at time: UnixTime?, in connection: Connection) throws {
        try StoreRecords(connection).markBad(uploadID, at: time)
    }

    package func countBadDirectObjects(in connection: ReadConnection) throws -> Int {
        try StoreRecords(connection).countBad()
    }

    /// Deletes what static keys stored longer ago than their configuration keeps it; to be called every few minutes.
    ///
    /// - Returns: how many objects it deleted.
    package func sweepDirectObjects(_ policy: any AccessPolicy, _ permit: DeletionPermit) async throws -> Int {
        var count = 0
        for key in configuration.staticKeys {
            guard let retention = key.retention else { continue }
            var found = Discards.inline
            while found == Discards.inline, !Task.isCancelled {
                found = try await database.write(mayUseReserve: true) { [discards = work.discards] connection in
                    let records = StoreRecords(connection)
                    let expired = try records.expired(
                        owner: key.id, before: permit.now().subtracting(retention), permit, limit: Discards.inline)
                    for id in expired { try discards.finish(records.deleteObject(uploadID: id), in: connection) }
                    if !expired.isEmpty {
                        try policy.recordExpiry(ofKey: key.id, count: expired.count, in: connection)
                    }
                    // A row with a time from after a step of the clock was committed after that step.
                    _ = try permit.now()
                    return expired.count
                }
                count += found
            }
        }
        return count
    }
}

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
