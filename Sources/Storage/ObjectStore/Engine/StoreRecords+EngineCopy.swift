package import Basics
package import Database

extension StoreSchema {
    static let engineCopyMigration = Migration(
        name: "store-engine-copy",
        sql: """
            -- The copy of all objects to another engine. ended_at: NULL while it is in progress.
            CREATE TABLE store_engine_copies (
                target TEXT PRIMARY KEY,
                begun_at INTEGER NOT NULL,
                ended_at INTEGER
            ) STRICT, WITHOUT ROWID;

            -- At most one row: whether the data directory may have bytes of objects.
            CREATE TABLE store_directory (holds_bytes INTEGER NOT NULL) STRICT;
            """)
}

/// A finished object whose bytes are to be copied.
package struct CopiedObject: Sendable {
    package let file: StoredFile
    package let place: StoredObject.Place
    /// Whether its bytes are known not to match its checksum.
    package let isDamaged: Bool
}

/// The copy of objects from one engine to another: those in a bucket have segments.
extension StoreRecords {
    /// Returns the beginning and the end of a copy; `nil` without one.
    package func engineCopy(target: String) throws -> (begunAt: UnixTime, endedAt: UnixTime?)? {
        try connection.first("SELECT begun_at, ended_at FROM store_engine_copies WHERE target = $1", target) { row in
            (
                UnixTime(microseconds: row.int64("begun_at")),
                row.optionalInt64("ended_at").map { UnixTime(microseconds: $0) }
            )
        }
    }

    /// Begins a copy, unless it is in progress.
    package func beginEngineCopy(target: String, at time: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_engine_copies (target, begun_at) VALUES ($1, $2)
            ON CONFLICT (target) DO UPDATE SET begun_at = excluded.begun_at, ended_at = NULL
            WHERE store_engine_copies.ended_at IS NOT NULL
            """, target, time.microseconds)
    }

    package func endEngineCopy(target: String, at time: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE store_engine_copies SET ended_at = $2 WHERE target = $1", target, time.microseconds)
    }

    private static var copiedColumns: String {
        "o.file_id, o.size, o.crc64, o.bucket, o.object_key, o.upload_id, o.bad_at IS NOT NULL AS is_bad"
    }

    private static func copiedObject(_ row: Row) -> CopiedObject {
        CopiedObject(
            file: StoredFile(
                fileID: row.text("file_id"), size: row.int64("size"), crc64: UInt64(bitPattern: row.int64("crc64"))),
            place: StoredObject.Place(
                bucket: row.text("bucket"), key: row.text("object_key"), uploadID: row.text("upload_id")),
            isDamaged: row.bool("is_bad"))
    }

    /// Returns the finished object of a file.
    package func copiedObject(_ fileID: String) throws -> CopiedObject? {
        try connection.first(
            "SELECT \(Self.copiedColumns) FROM store_objects o WHERE o.file_id = $1 AND o.lost = 0", fileID,
            row: Self.copiedObject)
    }

    /// Forgets a copy that was stopped.
    package func forgetEngineCopy(target: String) throws where C == Connection {
        try connection.execute("DELETE FROM store_engine_copies WHERE target = $1", target)
    }

    /// Returns the objects after a file that are in the directory, or in the bucket, in the order of their files.
    package func objectsToCopy(inBucket: Bool, after fileID: String, limit: Int) throws -> [CopiedObject] {
        try connection.query(
            """
            SELECT \(Self.copiedColumns) FROM store_objects o WHERE o.file_id > $1 AND o.lost = 0
            AND (CASE WHEN EXISTS (SELECT 1 FROM store_files f WHERE f.file_id = o.file_id) THEN 1 ELSE 0 END) = CAST($2 AS BIGINT)
            ORDER BY o.file_id LIMIT $3
            """, fileID, inBucket, limit, row: Self.copiedObject)
    }

    /// Whether a finished object has its bytes in that engine still, and is not deleted.
    package func isToBeCopied(_ fileID: String, inBucket: Bool) throws -> Bool {
        try isObject(fileID: fileID) && !isRemovalScheduled(fileID) && (layout(of: fileID) != nil) == inBucket
    }

    /// Counts what is to be copied: finished objects with their bytes, and multipart uploads that are not completed.
    package func countToCopy(inBucket: Bool) throws -> (objects: Int, bytes: Int64, uploads: Int) {
        let objects =
            try connection.first(
                """
                SELECT count(*) AS objects, coalesce(sum(o.size), 0) AS bytes FROM store_objects o WHERE o.lost = 0
                AND (CASE WHEN EXISTS (SELECT 1 FROM store_files f WHERE f.file_id = o.file_id) THEN 1 ELSE 0 END)
                    = CAST($1 AS BIGINT)
                """, inBucket
            ) { ($0.int("objects"), $0.int64("bytes")) } ?? (0, 0)
        let uploads =
            try connection.first(
                """
                SELECT count(*) AS uploads FROM store_multiparts m WHERE m.completed = 0 AND m.lost = 0
                AND (CASE WHEN EXISTS (SELECT 1 FROM store_files f WHERE f.file_id = m.file_id) THEN 1 ELSE 0 END)
                    = CAST($1 AS BIGINT)
                """, inBucket
            ) { $0.int("uploads") } ?? 0
        return (objects.0, objects.1, uploads)
    }

    /// Whether the data directory may have bytes of objects; `nil` = not recorded.
    package func directoryHoldsBytes() throws -> Bool? {
        try connection.first("SELECT holds_bytes FROM store_directory") { $0.bool("holds_bytes") }
    }

    package func setDirectoryHoldsBytes(_ holdsBytes: Bool) throws where C == Connection {
        guard try directoryHoldsBytes() != holdsBytes else { return }
        try connection.execute("DELETE FROM store_directory")
        try connection.execute("INSERT INTO store_directory (holds_bytes) VALUES ($1)", holdsBytes)
    }

    /// Whether there are files, all of which have segments.
    package func keepsAllInSegments() throws -> Bool {
        guard try !isEmpty() else { return false }
        let left = try countToCopy(inBucket: false)
        return left.objects == 0 && left.uploads == 0
    }

    /// Gives a file's segments to another id.
    package func renameFile(_ fileID: String, to other: String) throws where C == Connection {
        try connection.execute("UPDATE store_files SET file_id = $2 WHERE file_id = $1", fileID, other)
    }

    /// Returns the files with segments whose ids begin with `prefix` (two hexadecimal digits).
    package func segmentedFiles(withPrefix prefix: String) throws -> Set<String> {
        // "g" comes after every hexadecimal digit.
        let sql = "SELECT file_id FROM store_files WHERE file_id >= $1 AND file_id < $2"
        return Set(try connection.query(sql, prefix, prefix + "g") { $0.text("file_id") })
    }
}
