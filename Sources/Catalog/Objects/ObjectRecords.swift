import Accounts
import Basics
package import Database
import ObjectFilters

/// The tables of ``ObjectRecords``.
package enum ObjectSchema {
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
        ScrubSchema.migration,
        StatisticsSchema.migration,
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
        Migration(
            name: "catalog-5",
            sql: """
                -- NULL in these: the object is of a version that did not keep it. crc64 is signed; recorded_from and
                -- recorded_to are the time that the content covers; trashed_at: since when it is in the trash.
                ALTER TABLE objects ADD COLUMN name TEXT;
                ALTER TABLE objects ADD COLUMN content_type TEXT;
                ALTER TABLE objects ADD COLUMN crc64 INTEGER;
                ALTER TABLE objects ADD COLUMN recorded_from INTEGER;
                ALTER TABLE objects ADD COLUMN recorded_to INTEGER;
                ALTER TABLE objects ADD COLUMN trashed_at INTEGER;
                ALTER TABLE objects ADD COLUMN logical_upload_id TEXT;
                CREATE INDEX objects_by_logical_upload ON objects (logical_upload_id, position)
                    WHERE logical_upload_id IS NOT NULL;
                """),
        SearchSchema.migration,
        trashMigration,
        ObjectOperationSchema.migration,
        RetentionRules.migration,
        Migration(
            name: "catalog-7",
            sql: """
                -- The tags in one text, for counting; NULL = they are only in object_tags.
                ALTER TABLE objects ADD COLUMN tag_texts TEXT;
                """),
        RecordingSchema.migration,
        RecordingSchema.turnsMigration,
        Migration(
            name: "catalog-8",
            sql: """
                -- tag_cost: what the tags take in all tables, about; 0 for objects of versions that did not record it.
                ALTER TABLE objects ADD COLUMN tag_cost INTEGER NOT NULL DEFAULT 0;
                -- Objects are no longer counted by long values.
                DELETE FROM object_facets WHERE kind = \(FacetKind.tag.rawValue)
                    AND length(CAST(value AS BLOB)) > \(TagCost.longestFacet);
                """),
        Migration(
            name: "catalog-9",
            sql: """
                -- relative_path: of the file, below the folder that was uploaded; NULL = none was sent.
                ALTER TABLE objects ADD COLUMN relative_path TEXT;
                """),
        ObjectOperationSchema.undoMigration,
        StoredFileSchema.migration,
        StoredFilters.migration,
        NameIndexSchema.migration,
        SavedSearchRecords<Connection>.migration,
        ObjectOperationSchema.zoneMigration,
        RecordingTimeSchema.migration,
        FacetBytesSchema.migration,
    ]
}

/// All SQL of the catalog. Times are microseconds since 1970.
package struct ObjectRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    /// Inserts an object, which is in ListObjects once this transaction is committed.
    ///
    /// - Parameter logicalID: the object's logical upload; `nil` = unknown.
    package func insert(_ object: CatalogObject, logicalID: String? = nil, tags: [String: String]) throws
    where C == Connection {
        let (owner, content, times) = (object.owner, object.content, object.times)
        let description = object.description
        let position = try connection.first(
            """
            INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, suite_id, device_id, bucket,
                object_key, size, etag, created_at, uploaded_at, verified_at, tag_bytes, name, content_type, crc64,
                recorded_from, recorded_to, logical_upload_id, tag_texts, tag_cost, relative_path)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                $23, $24)
            RETURNING position
            """, object.id, object.fileID, object.uploadID, owner.organizationID, owner.siteID, owner.suiteID,
            owner.deviceID, content.bucket, content.key, content.size, content.etag, times.createdAt.microseconds,
            times.uploadedAt.microseconds, times.verifiedAt.microseconds,
            Self.bytes(of: tags), description.name?.text,
            description.contentType, description.crc64.map { Int64(bitPattern: $0) },
            description.recordedFrom?.microseconds, description.recordedTo?.microseconds, logicalID,
            TagTexts.text(of: tags), TagCost.bytes(of: tags), description.relativePath?.text
        ) { $0.int64("position") }
        guard let position else { throw DatabaseError.misuse("an insertion returned no position") }
        try insert(tags, at: position)
        try SearchRecords(connection).enter(SearchEntry(object, position: position, tags: tags))
        if object.isRecording {
            try RecordingRecords(connection).enqueue(position: position, organizationID: object.owner.organizationID)
        }
    }

    private func insert(_ tags: [String: String], at position: Int64) throws where C == Connection {
        guard !tags.isEmpty else { return }
        let rows = (0..<tags.count).map { "($1, $\(2 + 2 * $0), $\(3 + 2 * $0))" }.joined(separator: ", ")
        try connection.executeSoon(
            "INSERT INTO object_tags (position, key, value) VALUES \(rows)",
            arguments: [position] + tags.flatMap { [$0.key, $0.value] as [(any Bindable)?] })
    }

    private static func bytes(of tags: [String: String]) -> Int {
        tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// Replaces the tags of an object, which keeps its name.
    func setTags(_ tags: [String: String], of object: CatalogObject, at position: Int64) throws where C == Connection {
        let search = SearchRecords(connection)
        let name = object.name(tags: try self.tags(position: position))
        try search.remove(objectID: object.id)
        try connection.execute("DELETE FROM object_tags WHERE position = $1", position)
        try insert(tags, at: position)
        try connection.execute(
            """
            UPDATE objects SET tag_bytes = $2, name = coalesce(name, $3), tag_texts = $4, tag_cost = $5
            WHERE position = $1
            """, position, Self.bytes(of: tags), name.text, TagTexts.text(of: tags), TagCost.bytes(of: tags))
        try search.enter(objectID: object.id)
    }

    /// Returns the tags of an upload's object; `nil` if none is listed.
    package func tags(uploadID: String) throws -> [String: String]? {
        let position = try connection.first("SELECT position FROM objects WHERE upload_id = $1", uploadID) {
            $0.int64("position")
        }
        return try position.map { try tags(position: $0) }
    }

    /// Returns the tags of one object.
    func tags(position: Int64) throws -> [String: String] {
        let tags = try connection.query(
            "SELECT key, value FROM object_tags WHERE position = $1", position
        ) { ($0.text("key"), $0.text("value")) }
        return Dictionary(uniqueKeysWithValues: tags)
    }

    /// Returns an object, even if it is corrupted or in the trash.
    ///
    /// - Parameters:
    ///   - id: its file id, the id of its upload, or of its logical upload.
    ///   - scope: the organization; `nil` = any.
    func anyObject(id: String, scope: Int64?) throws -> CatalogObject? {
        try placedObject(id: id, scope: scope)?.object
    }

    /// Returns an object and its position, otherwise like ``anyObject(id:scope:)``.
    func placedObject(id: String, scope: Int64?) throws -> (position: Int64, object: CatalogObject)? {
        for column in ["file_id", "upload_id", "logical_upload_id"] {
            let found = try connection.first(
                """
                SELECT \(CatalogObject.columns) FROM objects o
                WHERE o.\(column) = $1 AND o.organization_id = coalesce($2, o.organization_id)
                ORDER BY o.position DESC LIMIT 1
                """, id, scope
            ) { ($0.int64("position"), CatalogObject($0)) }
            if let found { return found }
        }
        return nil
    }

    /// Sets the content type, which is detected from bytes that are read after the object was published.
    package func setContentType(_ type: String, ofFile fileID: String) throws where C == Connection {
        try connection.execute("UPDATE objects SET content_type = $2 WHERE file_id = $1", fileID, type)
        try SearchRecords(connection).setContentType(type, ofFile: fileID)
    }

    /// Returns the tags of objects by position; objects without tags are omitted.
    ///
    /// - Parameter positions: few, because an object may have half a MiB of tags.
    func tags(at positions: [Int64]) throws -> [Int64: [String: String]] {
        guard !positions.isEmpty else { return [:] }
        let positions = ParameterList.padded(positions)
        var tags: [Int64: [String: String]] = [:]
        _ = try connection.query(
            "SELECT position, key, value FROM object_tags WHERE position IN (\(ParameterList.text(positions.count)))",
            arguments: positions
        ) { tags[$0.int64("position"), default: [:]][$0.text("key")] = $0.text("value") }
        return tags
    }

    /// Returns an object's name. Objects of versions that kept no names have one that is made of their tags.
    func name(of object: CatalogObject) throws -> FileName {
        if let name = object.description.name { return name }
        return object.name(tags: try tags(uploadID: object.uploadID) ?? [:])
    }

    /// Returns an object, even if it is corrupted, with its tags and its organization's name.
    ///
    /// - Parameter scope: the organization; `nil` = any.
    func details(id: String, scope: Int64?) throws -> ObjectDetailsRecord? {
        guard let (position, object) = try placedObject(id: id, scope: scope) else { return nil }
        let organization = try OrganizationRecords(connection).reference(id: object.owner.organizationID)
        return ObjectDetailsRecord(
            object: object, tags: try tags(position: position),
            topics: try RecordingRecords(connection).topics(at: position), organization: organization?.name ?? "",
            trashing: try trashing(of: object))
    }

    /// Returns the object of an upload, even if it is corrupted.
    package func object(uploadID: String) throws -> CatalogObject? {
        try connection.first(
            "SELECT \(CatalogObject.columns) FROM objects o WHERE o.upload_id = $1", uploadID, row: CatalogObject.init)
    }

    /// Whether the upload's object is in lists: it is neither corrupted nor in the trash.
    package func listsObject(uploadID: String) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM objects WHERE upload_id = $1 AND bad_at IS NULL AND trashed_at IS NULL", uploadID)
    }

    /// Whether the upload's object may be read with a permission issued earlier: it was neither deleted nor found corrupted.
    /// Presigned URLs of an object that has been moved to the trash remain valid.
    package func holdsObject(uploadID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM objects WHERE upload_id = $1 AND bad_at IS NULL", uploadID)
    }
}

extension CatalogObject {
    /// The columns that ``init(_:)`` reads.
    static let columns = """
        o.position, o.id, o.file_id, o.upload_id, o.organization_id, o.site_id, o.suite_id, o.device_id, o.bucket,
        o.object_key, o.size, o.etag, o.created_at, o.uploaded_at, o.verified_at, o.bad_at IS NOT NULL AS is_bad,
        o.name, o.content_type, o.crc64, o.recorded_from, o.recorded_to, o.trashed_at, o.tag_bytes,
        o.relative_path, o.tag_texts IS NULL AS lacks_tag_texts
        """

    init(_ row: Row) {
        self.init(
            id: row.text("id"), fileID: row.text("file_id"), uploadID: row.text("upload_id"),
            owner: ObjectOwner(
                organizationID: row.int64("organization_id"), siteID: row.int64("site_id"),
                suiteID: row.optionalInt64("suite_id"), deviceID: row.optionalText("device_id")),
            content: Content(
                bucket: row.text("bucket"), key: row.text("object_key"), size: row.int64("size"),
                etag: row.text("etag")),
            times: Times(
                createdAt: row.time("created_at"), uploadedAt: row.time("uploaded_at"),
                verifiedAt: row.time("verified_at")))
        description = Description(
            name: row.optionalText("name").map { FileName(verbatim: $0) },
            relativePath: row.optionalText("relative_path").map { RelativePath(verbatim: $0) },
            contentType: row.optionalText("content_type") ?? ContentType.unknown,
            crc64: row.optionalInt64("crc64").map { UInt64(bitPattern: $0) },
            recordedFrom: row.optionalTime("recorded_from"), recordedTo: row.optionalTime("recorded_to"))
        isBad = row.bool("is_bad")
        trashedAt = row.optionalTime("trashed_at")
    }
}

extension FilterSubject {
    /// The columns that a filter compares, and those that a search reads of every row, but for `tag_texts`. The device is not one of
    /// them, since each search for which this is enough reads it.
    static func columns(of texts: FilterTexts) -> String {
        var columns = """
            o.position, o.organization_id, o.site_id, o.size, o.created_at, o.trashed_at, o.recorded_from, o.tag_bytes,
            o.tag_texts IS NULL AS lacks_tag_texts
            """
        for (isRead, column) in [
            (texts.hasID, "id"), (texts.hasName, "name"), (texts.hasContentType, "content_type"),
            (texts.hasPath, "relative_path"), (texts.hasRecordedTimes, "recorded_to"),
        ] where isRead { columns += ", o.\(column)" }
        return columns
    }

    /// Reads the properties that a filter compares. Texts that no term refers to are omitted.
    init(_ row: Row, of texts: FilterTexts) {
        self.init(
            id: texts.hasID ? row.text("id") : "", deviceID: texts.hasDevice ? row.optionalText("device_id") : nil,
            siteID: row.int64("site_id"), size: row.int64("size"), createdAt: row.int64("created_at"),
            name: texts.hasName ? row.optionalText("name")?.lowercasedByScalar : "")
        if texts.hasContentType { contentType = row.optionalText("content_type") ?? ContentType.unknown }
        isTrashed = !row.isNull("trashed_at")
        if texts.hasPath { path = row.optionalText("relative_path") ?? "" }
        if texts.hasRecordedTimes {
            recordedFrom = row.optionalInt64("recorded_from")
            recordedTo = row.optionalInt64("recorded_to")
        }
    }
}
