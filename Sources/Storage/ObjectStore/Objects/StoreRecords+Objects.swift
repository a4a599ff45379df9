import Basics
import Crypto
package import Database
import StoreProtocol

private let objectColumns = """
    bucket, object_key, upload_id, size, etag, part_count, crc64, created_at, file_id, multipart_id, content_type,
    checksum, kept, crc32, bad_at IS NOT NULL AS is_bad
    """

extension StoreRecords {
    func object(bucket: String, key: String) throws -> StoredObject? {
        try connection.first(
            "SELECT \(objectColumns) FROM store_objects WHERE bucket = $1 AND object_key = $2 AND lost = 0",
            bucket, key, row: Self.object)
    }

    func object(uploadID: String) throws -> StoredObject? {
        try connection.first(
            "SELECT \(objectColumns) FROM store_objects WHERE upload_id = $1 AND lost = 0", uploadID,
            row: Self.object)
    }

    /// Returns the objects with keys from `first` up to but not including `end`, in byte order.
    func objects(
        bucket: String, from first: String, below end: String, limit: PageLimit
    ) throws -> PageRows<StoredObject> {
        try connection.page(
            limit,
            """
            SELECT \(objectColumns) FROM store_objects
            WHERE bucket = $1 AND object_key >= $2 AND object_key < $3 AND lost = 0 ORDER BY object_key LIMIT $4
            """, bucket, first, end, limit.statementRows, row: Self.object)
    }

    /// Replaces the fields stored with an object.
    func setKept(_ kept: KeptFields, uploadID: String) throws where C == Connection {
        try connection.execute("UPDATE store_objects SET kept = $2 WHERE upload_id = $1", uploadID, kept.text)
    }

    /// Stores what a copy of an object to itself changes; its bytes stay where they are.
    func setHeader(of object: StoredObject) throws where C == Connection {
        try connection.execute(
            """
            UPDATE store_objects SET kept = $2, content_type = $3, created_at = $4, checksum = $5 WHERE upload_id = $1
            """,
            object.uploadID, object.kept.text, object.contentType, object.createdAt.microseconds,
            object.checksum?.description)
    }

    /// Returns the MD5 of an appendable object's bytes, to which more can be added; `nil` if it is not recorded.
    func runningMD5(of object: StoredObject) throws -> RunningMD5? {
        let state = try connection.first(
            """
            SELECT md5_state FROM store_objects WHERE upload_id = $1 AND file_id = $2 AND md5_state IS NOT NULL
            """, object.uploadID, object.fileID
        ) { $0.blob("md5_state") }
        return state.flatMap { RunningMD5(state: $0, length: object.size) }
    }

    func setRunningMD5(_ md5: RunningMD5, uploadID: String) throws where C == Connection {
        try connection.execute("UPDATE store_objects SET md5_state = $2 WHERE upload_id = $1", uploadID, md5.state)
    }

    func isObjectLost(uploadID: String) throws -> Bool {
        try connection.first("SELECT lost FROM store_objects WHERE upload_id = $1", uploadID) { $0.bool("lost") }
            ?? false
    }

    func isObjectLost(bucket: String, key: String) throws -> Bool {
        try connection.first(
            "SELECT lost FROM store_objects WHERE bucket = $1 AND object_key = $2", bucket, key
        ) { $0.bool("lost") } ?? false
    }

    /// Returns the version of an object, see ``WriteOrder``; 0 without an object.
    func version(ofObject uploadID: String) throws -> Int64 {
        try connection.first("SELECT version FROM store_objects WHERE upload_id = $1 AND lost = 0", uploadID) {
            $0.int64("version")
        } ?? 0
    }

    /// Returns the data file of an object; `nil` without an object. Each writer that replaces an object has a file of its own.
    func file(ofObject uploadID: String) throws -> String? {
        try connection.first("SELECT file_id FROM store_objects WHERE upload_id = $1 AND lost = 0", uploadID) {
            $0.text("file_id")
        }
    }

    /// Returns the data files of the objects that have these keys, by key.
    func files(ofObjects keys: [String], bucket: String) throws -> [String: String] {
        guard !keys.isEmpty else { return [:] }
        let keys = ParameterList.padded(keys)
        let files = try connection.query(
            """
            SELECT object_key, file_id FROM store_objects
            WHERE bucket = $1 AND object_key IN (\(ParameterList.text(keys.count, from: 2))) AND lost = 0
            """, arguments: [bucket] + keys
        ) { ($0.text("object_key"), $0.text("file_id")) }
        return Dictionary(files) { first, _ in first }
    }

    private func insert(_ object: StoredObject, _ order: WriteOrder) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_objects
                (bucket, object_key, upload_id, size, etag, part_count, crc64, created_at, file_id, multipart_id,
                content_type, checksum, kept, crc32, version, base_version)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
            """,
            object.bucket, object.key, object.uploadID, object.size, object.etag, object.partCount,
            Int64(bitPattern: object.crc64), object.createdAt.microseconds, object.fileID, object.multipartID,
            object.contentType, object.checksum?.description, object.kept.text, object.crc32.map(Int64.init),
            order.version, order.base)
    }

    /// Replaces an object.
    ///
    /// - Parameter base: the version that the writer found when it began; `nil` = it replaces whatever is there.
    /// - Returns: the deleted rows of the replaced object.
    /// - Throws: ``WritesInFlight/Revoked`` if the object was replaced since then, maybe by a writer that began later.
    func replaceObject(
        with object: StoredObject, from base: Int64? = nil
    ) throws -> DiscardedRows where C == Connection {
        let (earlier, order) = try remove(object.uploadID)
        guard base.map(order.precedes) ?? true else { throw WritesInFlight.Revoked() }
        try insert(object, order.replaced(from: base ?? order.version))
        return earlier
    }

    /// Takes over an object whose file is at its place, whatever its rows contain.
    package func adopt(_ object: StoredObject, partSize: Int64) throws where C == Connection {
        try removed([object.fileID])
        guard try storedFile(object.fileID) == nil else {
            try markLost(object.fileID, false)
            return
        }
        if let multipartID = object.multipartID {
            try adopt(object, multipartID: multipartID, partSize: partSize)
        }
        let earlier = try connection.query(
            "DELETE FROM store_objects WHERE upload_id = $1 RETURNING file_id", object.uploadID
        ) { $0.text("file_id") }
        try insert(object, WriteOrder.none.replaced(from: 0))
        try scheduleRemoval(
            earlier + discard(.others(uploadID: object.uploadID), limit: Discards.inline).files)
    }

    /// Returns the CRC-32 of each of these objects that has one, by file id.
    func crc32s(ofFiles fileIDs: [String]) throws -> [String: UInt32] {
        var found: [String: UInt32] = [:]
        for start in stride(from: 0, to: fileIDs.count, by: 1000) {
            let some = ParameterList.padded(Array(fileIDs[start...].prefix(1000)))
            _ = try connection.query(
                """
                SELECT file_id, crc32 FROM store_objects
                WHERE file_id IN (\(ParameterList.text(some.count))) AND crc32 IS NOT NULL
                """, arguments: some
            ) { found[$0.text("file_id")] = Self.crc32($0) }
        }
        return found
    }

    /// Records the CRC-32 of an object's bytes.
    func record(crc32: UInt32, ofFile fileID: String) throws where C == Connection {
        try connection.execute(
            "UPDATE store_objects SET crc32 = $2 WHERE file_id = $1", fileID, Int64(crc32))
    }

    /// Returns the existing finished files, in the order of their ids.
    func storedFiles(after fileID: String, limit: Int) throws -> [StoredFile] {
        try connection.query(
            "SELECT file_id, size, crc64 FROM store_objects WHERE lost = 0 AND file_id > $1 ORDER BY file_id LIMIT $2",
            fileID, limit, row: Self.file)
    }

    package func storedFile(_ fileID: String) throws -> StoredFile? {
        try connection.first(
            "SELECT file_id, size, crc64 FROM store_objects WHERE file_id = $1", fileID, row: Self.file)
    }

    func countStoredFiles() throws -> Int {
        try connection.first("SELECT count(*) AS files FROM store_objects WHERE lost = 0") { $0.int("files") } ?? 0
    }

    /// Returns the sum of the sizes of the same files in bytes.
    func sumStoredFiles() throws -> Int64 {
        try connection.first("SELECT coalesce(sum(size), 0) AS bytes FROM store_objects WHERE lost = 0") {
            $0.int64("bytes")
        } ?? 0
    }

    /// Deletes the object's row and, if it was made of parts, its multipart upload. Both have the same file, which is removed with
    /// the last of the two.
    func deleteObject(uploadID: String) throws -> DiscardedRows where C == Connection {
        try remove(uploadID).rows
    }

    private func remove(_ uploadID: String) throws -> (rows: DiscardedRows, order: WriteOrder) where C == Connection {
        let deleted = try connection.first(
            """
            DELETE FROM store_objects WHERE upload_id = $1
            RETURNING file_id, multipart_id, version * (1 - lost) AS version, base_version
            """, uploadID
        ) { row in
            (
                fileID: row.text("file_id"), multipartID: row.optionalText("multipart_id"),
                order: WriteOrder(version: row.int64("version"), base: row.int64("base_version"))
            )
        }
        guard let (fileID, multipartID, order) = deleted else { return (DiscardedRows(), .none) }
        guard let multipartID else { return (DiscardedRows(files: [fileID], rows: 1), order) }
        var result = try discard(.one(id: multipartID, uploadID: uploadID), limit: Discards.inline)
        if result.isDone, !result.files.contains(fileID) { result.files.append(fileID) }
        return (result, order)
    }

    /// Deletes the store's whole state of an upload, or marks the part beyond one transaction's limit.
    package func discardAll(uploadID: String) throws -> DiscardedRows where C == Connection {
        var result = try deleteObject(uploadID: uploadID)
        let others = try discard(.others(uploadID: uploadID), limit: Discards.inline)
        result.files += others.files
        result.rows += others.rows
        result.isDone = result.isDone && others.isDone
        return result
    }

    static func file(_ row: Row) -> StoredFile {
        StoredFile(
            fileID: row.text("file_id"), size: row.int64("size"), crc64: UInt64(bitPattern: row.int64("crc64")))
    }

    private static func object(_ row: Row) -> StoredObject {
        var object = StoredObject(
            StoredObject.Place(
                bucket: row.text("bucket"), key: row.text("object_key"), uploadID: row.text("upload_id")),
            StoredObject.Content(
                size: row.int64("size"), etag: row.text("etag"), crc64: UInt64(bitPattern: row.int64("crc64")),
                crc32: crc32(row),
                checksum: row.optionalText("checksum").flatMap(Checksum.init),
                origin: row.optionalText("multipart_id").map {
                    StoredObject.Multipart(id: $0, partCount: row.int("part_count"))
                }),
            fileID: row.text("file_id"), createdAt: row.time("created_at"),
            contentType: row.optionalText("content_type"), kept: KeptFields(text: row.optionalText("kept")))
        object.isBad = row.bool("is_bad")
        return object
    }
}
