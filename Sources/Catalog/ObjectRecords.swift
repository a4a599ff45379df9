import Database

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
        let (owner, content, times) = (object.owner, object.content, object.times)
        let position = try connection.first(
            """
            INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, suite_id, device_id, bucket,
                object_key, size, etag, created_at, uploaded_at, verified_at, tag_bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING position
            """, object.id, object.fileID, object.uploadID, owner.organizationID, owner.siteID, owner.suiteID,
            owner.deviceID, content.bucket, content.key, content.size, content.etag, times.createdAt.microseconds,
            times.uploadedAt.microseconds, times.verifiedAt.microseconds,
            tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        ) { $0.int64("position") }
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
            SELECT \(Self.columns), n.name AS organization FROM objects o JOIN organizations n ON n.id = o.organization_id
            WHERE o.file_id = $1 AND o.organization_id = coalesce($2, o.organization_id)
            """, fileID, scope
        ) { (position: $0.int64("position"), object: Self.object($0), organization: $0.text("organization")) }
        guard let found else { return nil }
        let tags = try connection.query(
            "SELECT key, value FROM object_tags WHERE position = $1", found.position
        ) { ($0.text("key"), $0.text("value")) }
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
        o.object_key, o.size, o.etag, o.created_at, o.uploaded_at, o.verified_at, o.bad_at IS NOT NULL AS is_bad
        """

    static func object(_ row: Row) -> CatalogObject {
        var object = CatalogObject(
            id: row.text("id"), fileID: row.text("file_id"), uploadID: row.text("upload_id"),
            owner: ObjectOwner(
                organizationID: row.int64("organization_id"), siteID: row.int64("site_id"),
                suiteID: row.optionalInt64("suite_id"), deviceID: row.optionalText("device_id")),
            content: CatalogObject.Content(
                bucket: row.text("bucket"), key: row.text("object_key"), size: row.int64("size"),
                etag: row.text("etag")),
            times: CatalogObject.Times(
                createdAt: row.time("created_at"), uploadedAt: row.time("uploaded_at"),
                verifiedAt: row.time("verified_at")))
        object.isBad = row.bool("is_bad")
        return object
    }
}
