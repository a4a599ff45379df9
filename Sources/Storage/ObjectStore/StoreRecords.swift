package import Basics
package import Database
package import StoreProtocol

/// The tables of ``StoreRecords``.
enum StoreSchema {
    static let migrations = [
        Migration(
            name: "store-1",
            sql: """
                CREATE TABLE store_multiparts (
                    id TEXT PRIMARY KEY,
                    upload_id TEXT NOT NULL,
                    bucket TEXT NOT NULL,
                    object_key TEXT NOT NULL,
                    file_id TEXT NOT NULL UNIQUE,
                    part_size INTEGER NOT NULL,
                    content_type TEXT,
                    created_at INTEGER NOT NULL,
                    completed INTEGER NOT NULL DEFAULT 0,
                    lost INTEGER NOT NULL DEFAULT 0
                ) STRICT;
                CREATE INDEX store_multiparts_by_upload ON store_multiparts (upload_id, created_at);

                -- file_id: the part's own file, or NULL when it stands at its place in the file of its multipart upload.
                CREATE TABLE store_parts (
                    multipart_id TEXT NOT NULL REFERENCES store_multiparts (id) ON DELETE CASCADE,
                    number INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    md5 BLOB NOT NULL,
                    crc64 INTEGER NOT NULL,
                    file_id TEXT UNIQUE,
                    stored_at INTEGER NOT NULL,
                    PRIMARY KEY (multipart_id, number)
                ) STRICT, WITHOUT ROWID;

                -- multipart_id and part_count: of the multipart upload that made it, or NULL and 0.
                CREATE TABLE store_objects (
                    bucket TEXT NOT NULL,
                    object_key TEXT NOT NULL,
                    upload_id TEXT NOT NULL UNIQUE,
                    file_id TEXT NOT NULL UNIQUE,
                    size INTEGER NOT NULL,
                    etag TEXT NOT NULL,
                    crc64 INTEGER NOT NULL,
                    multipart_id TEXT UNIQUE,
                    part_count INTEGER NOT NULL,
                    content_type TEXT,
                    created_at INTEGER NOT NULL,
                    lost INTEGER NOT NULL DEFAULT 0,
                    PRIMARY KEY (bucket, object_key)
                ) STRICT;

                -- Files whose rows are gone and that are still to be unlinked.
                CREATE TABLE store_removals (file_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

                -- One row: which data directory this database goes with, and how often the two were started.
                CREATE TABLE store_identity (id TEXT PRIMARY KEY, generation INTEGER NOT NULL) STRICT;
                """),
        usageMigration,
        Migration(
            name: "store-checksums",
            sql: """
                -- ALGORITHM:base64[-parts]; of a multipart upload ALGORITHM:kind. NULL where no client asked for one.
                ALTER TABLE store_multiparts ADD COLUMN checksum TEXT;
                ALTER TABLE store_parts ADD COLUMN checksum TEXT;
                ALTER TABLE store_objects ADD COLUMN checksum TEXT;
                """),
        Migration(
            name: "store-lost-parts",
            sql: """
                -- The part's own file is gone: it counts as not stored, until the file is there again.
                ALTER TABLE store_parts ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
                """),
        discardMigration,
        emptyUsageMigration,
        Migration(
            name: "store-clean-stop",
            sql: """
                -- A digest of the data folders at a clean stop; NULL from the next start on.
                ALTER TABLE store_identity ADD COLUMN stopped_with TEXT;
                """),
        releaseMigration,
        Migration(
            name: "store-kept-fields",
            sql: """
                -- Lines NAME: VALUE; see KeptFields. NULL where nothing is kept.
                ALTER TABLE store_objects ADD COLUMN kept TEXT;
                ALTER TABLE store_multiparts ADD COLUMN kept TEXT;
                -- Whether the initiator forbade to overwrite an object.
                ALTER TABLE store_multiparts ADD COLUMN forbids_overwrite INTEGER NOT NULL DEFAULT 0;
                -- For lists of the multipart uploads of static keys, which are those without a part size.
                CREATE INDEX store_multiparts_by_key ON store_multiparts (bucket, object_key, id)
                    WHERE part_size = 0 AND completed = 0;
                """),
        ownerMigration,
        Migration(
            name: "store-crc32",
            sql: """
                -- CRC-32 of the bytes; NULL in rows of versions that did not record it, and where such a row was adopted.
                ALTER TABLE store_parts ADD COLUMN crc32 INTEGER;
                ALTER TABLE store_objects ADD COLUMN crc32 INTEGER;
                """),
        Migration(
            name: "store-buckets",
            sql: """
                -- When the gateway first started with a bucket of the configuration, for ListBuckets.
                CREATE TABLE store_buckets (name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                """),
        segmentMigration,
        upkeepMigration,
        engineCopyMigration,
        smallSegmentMigration,
        Migration(
            name: "store-appendable",
            sql: """
                -- The state of the MD5 of an appendable object's bytes, see RunningMD5; NULL for others, and in rows of earlier versions.
                ALTER TABLE store_objects ADD COLUMN md5_state BLOB;
                """),
        orderMigration,
        removalMigration,
        pauseMigration,
    ]
}

/// All SQL of the store.
package struct StoreRecords<C: ReadConnection> {
    package let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the CRC-32 of a part or an object; `nil` if none is recorded.
    static func crc32(_ row: Row) -> UInt32? {
        row.optionalInt64("crc32").map { UInt32(truncatingIfNeeded: $0) }
    }
}

/// A row of `store_multiparts`.
package struct MultipartRecord: Sendable, Equatable {
    package let id: String
    package let uploadID: String
    package let bucket: String
    package let key: String
    package let fileID: String
    package let partSize: Int64
    package let contentType: String?
    package let createdAt: UnixTime
    package let isCompleted: Bool
    package let isLost: Bool
    /// The checksum that its initiator requested.
    package var checksum: MultipartChecksum?
    package var kept = KeptFields.none
    /// Whether its object must not replace another one.
    package var forbidsOverwrite = false
}

/// A row of `store_parts`.
package struct PartRecord: Sendable, Equatable {
    package let number: Int
    package let size: Int64
    package let md5: [UInt8]
    package let crc64: UInt64
    /// The CRC-32 of the bytes; `nil` if none is recorded.
    package var crc32: UInt32?
    /// The part's own file; `nil` if the part is at its place in the file of its multipart upload.
    package let fileID: String?
    package let storedAt: UnixTime
    package var checksum: Checksum?
    var order = WriteOrder.none
}

/// The SQL of buckets, which are configured: only the time of their first use is stored.
extension StoreRecords {
    func bucketTimes() throws -> [String: UnixTime] {
        let rows = try connection.query("SELECT name, created_at FROM store_buckets") {
            ($0.text("name"), $0.time("created_at"))
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    func recordBucket(_ name: String, at time: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO store_buckets (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name,
            time.microseconds)
    }
}
