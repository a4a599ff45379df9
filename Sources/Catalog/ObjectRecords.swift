import Basics
import Database

/// A verified object, as the catalog keeps it. It takes its owner from the upload, and keeps it wherever the device moves.
package struct CatalogObject: Sendable, Hashable {
    /// 36 characters, as `Identifiers` makes them.
    package let id: String
    /// What clients ask for it by; also the name of its data file in the store.
    package let fileID: String
    package let uploadID: String
    package let organizationID: Int64
    package let siteID: Int64
    package let suiteID: Int64?
    /// `nil` = uploaded by the site itself.
    package let deviceID: String?
    package let bucket: String
    package let key: String
    /// In bytes.
    package let size: Int64
    /// Exactly as HEAD gives it, with quotes.
    package let etag: String
    package let createdAt: UnixTime
    package let uploadedAt: UnixTime
    package let verifiedAt: UnixTime
    /// Whether the object is corrupted: its bytes no longer match its checksum.
    package let isBad: Bool

    package init(
        id: String, fileID: String, uploadID: String, organizationID: Int64, siteID: Int64, suiteID: Int64?,
        deviceID: String?, bucket: String, key: String, size: Int64, etag: String, createdAt: UnixTime,
        uploadedAt: UnixTime, verifiedAt: UnixTime, isBad: Bool = false
    ) {
        self.id = id
        self.fileID = fileID
        self.uploadID = uploadID
        self.organizationID = organizationID
        self.siteID = siteID
        self.suiteID = suiteID
        self.deviceID = deviceID
        self.bucket = bucket
        self.key = key
        self.size = size
        self.etag = etag
        self.createdAt = createdAt
        self.uploadedAt = uploadedAt
        self.verifiedAt = verifiedAt
        self.isBad = isBad
    }
}

/// An object and what is known of it beside.
struct ObjectDetailsRecord: Sendable {
    let object: CatalogObject
    let tags: [String: String]
    /// Its organization's name.
    let organization: String
}

/// All the SQL of the catalog, and its tables. Times are microseconds since 1970.
package struct ObjectRecords {
    package static let migrations = [
        Migration(
            name: "catalog-1",
            sql: """
                -- position: the order of the lists. It only ever grows and is never used twice, so an object that is
                -- added while somebody walks the pages stands before all that they have seen, whatever the clock says.
                CREATE TABLE objects (
                    position INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    file_id TEXT NOT NULL UNIQUE,
                    upload_id TEXT NOT NULL UNIQUE,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    site_id INTEGER NOT NULL,
                    suite_id INTEGER,
                    device_id TEXT,
                    bucket TEXT NOT NULL,
                    object_key TEXT NOT NULL,
                    size INTEGER NOT NULL,
                    etag TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    uploaded_at INTEGER NOT NULL,
                    verified_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX objects_by_organization ON objects (organization_id, position);
                CREATE INDEX objects_by_site ON objects (site_id, position);
                CREATE INDEX objects_by_device ON objects (device_id, position);

                CREATE TABLE object_tags (
                    position INTEGER NOT NULL REFERENCES objects (position) ON DELETE CASCADE,
                    key TEXT NOT NULL,
                    value TEXT NOT NULL,
                    PRIMARY KEY (position, key)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX object_tags_by_value ON object_tags (key, value, position);
                """),
        Migration(
            name: "catalog-2",
            sql: """
                -- bad_at: since when the bytes are known to differ from what was verified; NULL = they do not.
                ALTER TABLE objects ADD COLUMN bad_at INTEGER;
                CREATE INDEX objects_that_are_bad ON objects (position) WHERE bad_at IS NOT NULL;
                CREATE INDEX objects_by_age ON objects (organization_id, verified_at, size);

                -- What is left of an object that was deleted: who had it, and who wanted it gone.
                CREATE TABLE deleted_objects (
                    file_id TEXT PRIMARY KEY,
                    object_id TEXT NOT NULL,
                    upload_id TEXT NOT NULL,
                    organization_id INTEGER NOT NULL,
                    site_id INTEGER NOT NULL,
                    device_id TEXT,
                    size INTEGER NOT NULL,
                    etag TEXT NOT NULL,
                    verified_at INTEGER NOT NULL,
                    deleted_at INTEGER NOT NULL,
                    deleted_by TEXT NOT NULL,
                    reason TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;

                -- After how many days an organization's objects are deleted; no row = they are kept.
                CREATE TABLE retention (
                    organization_id INTEGER PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
                    days INTEGER NOT NULL
                ) STRICT;
                """),
        ScrubRecords.migration,
        StatisticsRecords.migration,
        Migration(
            name: "catalog-3",
            sql: """
                CREATE INDEX deleted_objects_by_age ON deleted_objects (deleted_at);
                CREATE INDEX deleted_objects_by_upload ON deleted_objects (upload_id);
                """),
        Migration(
            name: "catalog-4",
            sql: """
                -- tag_bytes: of all keys and values; 0 for objects of versions that did not count them.
                ALTER TABLE objects ADD COLUMN tag_bytes INTEGER NOT NULL DEFAULT 0;
                """),
    ]

    let connection: Connection

    package init(_ connection: Connection) {
        self.connection = connection
    }

    /// The object is in ListObjects from this transaction's commit on.
    package func insert(_ object: CatalogObject, tags: [String: String]) throws {
        let position = try connection.first(
            """
            INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, suite_id, device_id, bucket,
                object_key, size, etag, created_at, uploaded_at, verified_at, tag_bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING position
            """, object.id, object.fileID, object.uploadID, object.organizationID, object.siteID, object.suiteID,
            object.deviceID, object.bucket, object.key, object.size, object.etag, object.createdAt.microseconds,
            object.uploadedAt.microseconds, object.verifiedAt.microseconds,
            tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        ) { $0.int64(0) }
        for (key, value) in tags {
            try connection.execute(
                "INSERT INTO object_tags (position, key, value) VALUES ($1, $2, $3)", position, key, value)
        }
    }

    /// A verified object.
    ///
    /// - Parameter scope: the organization that must have it; `nil` = whichever.
    func object(fileID: String, scope: Int64?) throws -> CatalogObject? {
        try connection.first(
            """
            SELECT \(Self.columns) FROM objects o
            WHERE o.file_id = $1 AND o.organization_id = coalesce($2, o.organization_id) AND o.bad_at IS NULL
            """, fileID, scope, row: Self.object)
    }

    /// An object with its tags and its organization's name, good or bad.
    ///
    /// - Parameter scope: the organization that must have it; `nil` = whichever.
    func details(fileID: String, scope: Int64?) throws -> ObjectDetailsRecord? {
        let found = try connection.first(
            """
            SELECT \(Self.columns), n.name FROM objects o JOIN organizations n ON n.id = o.organization_id
            WHERE o.file_id = $1 AND o.organization_id = coalesce($2, o.organization_id)
            """, fileID, scope
        ) { (position: $0.int64(0), object: Self.object($0), organization: $0.text(16)) }
        guard let found else { return nil }
        let tags = try connection.query(
            "SELECT key, value FROM object_tags WHERE position = $1", found.position
        ) { ($0.text(0), $0.text(1)) }
        return ObjectDetailsRecord(
            object: found.object, tags: Dictionary(uniqueKeysWithValues: tags), organization: found.organization)
    }

    /// What an upload was completed to, good or bad.
    package func object(uploadID: String) throws -> CatalogObject? {
        try connection.first(
            "SELECT \(Self.columns) FROM objects o WHERE o.upload_id = $1", uploadID, row: Self.object)
    }

    /// Whether the upload's object may be read: it was neither deleted nor found to be bad.
    package func holdsObject(uploadID: String) throws -> Bool {
        try connection.first("SELECT 1 FROM objects WHERE upload_id = $1 AND bad_at IS NULL", uploadID) { _ in true }
            ?? false
    }

    static let columns = """
        o.position, o.id, o.file_id, o.upload_id, o.organization_id, o.site_id, o.suite_id, o.device_id, o.bucket,
        o.object_key, o.size, o.etag, o.created_at, o.uploaded_at, o.verified_at, o.bad_at IS NOT NULL
        """

    static func object(_ row: Row) -> CatalogObject {
        CatalogObject(
            id: row.text(1), fileID: row.text(2), uploadID: row.text(3), organizationID: row.int64(4),
            siteID: row.int64(5), suiteID: row.optionalInt64(6), deviceID: row.optionalText(7), bucket: row.text(8),
            key: row.text(9), size: row.int64(10), etag: row.text(11), createdAt: UnixTime(microseconds: row.int64(12)),
            uploadedAt: UnixTime(microseconds: row.int64(13)), verifiedAt: UnixTime(microseconds: row.int64(14)),
            isBad: row.bool(15))
    }
}
