import Basics
import Database
import StoreProtocol

private let multipartColumns =
    """
    id, upload_id, bucket, object_key, file_id, part_size, content_type, created_at, completed, lost, checksum, kept,
    forbids_overwrite
    """
private let partColumns = "number, size, md5, crc64, crc32, file_id, stored_at, checksum, version, base_version"

extension StoreStatements {
    /// Reads the latest thousand: versions without a limit may have left more.
    static let progress = """
        WITH open AS (
            SELECT m.id, m.lost FROM store_multiparts m
            WHERE m.upload_id = $1 AND m.completed = 0 AND \(StoreStatements.hasNotEnded)
            ORDER BY m.created_at DESC LIMIT 1000)
        SELECT
            EXISTS (SELECT 1 FROM open WHERE lost = 0) AS has_multipart,
            EXISTS (
                SELECT 1 FROM open o JOIN store_parts p ON p.multipart_id = o.id WHERE o.lost = 0 AND p.lost = 0
            ) AS has_part,
            EXISTS (SELECT 1 FROM open WHERE lost = 1) AS has_lost
        """
}

extension StoreRecords {
    func insert(_ multipart: MultipartRecord) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_multiparts
                (id, upload_id, bucket, object_key, file_id, part_size, content_type, created_at, checksum, kept,
                forbids_overwrite)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            multipart.id, multipart.uploadID, multipart.bucket, multipart.key, multipart.fileID, multipart.partSize,
            multipart.contentType, multipart.createdAt.microseconds, multipart.checksum?.description,
            multipart.kept.text, multipart.forbidsOverwrite)
    }

    /// Returns a multipart upload that has not ended.
    func multipart(_ id: String) throws -> MultipartRecord? {
        try connection.first(
            "SELECT \(multipartColumns) FROM store_multiparts m WHERE id = $1 AND \(StoreStatements.hasNotEnded)", id,
            row: Self.multipart)
    }

    /// Returns the upload's multipart uploads that were neither completed nor ended, with the number of their parts, in the order
    /// of their beginning.
    func openMultiparts(uploadID: String) throws -> [(multipart: StoreSnapshot.Multipart, isLost: Bool)] {
        try connection.query(
            """
            SELECT m.id, (SELECT count(*) FROM store_parts p WHERE p.multipart_id = m.id AND p.lost = 0) AS parts, m.lost
            FROM store_multiparts m WHERE m.upload_id = $1 AND m.completed = 0 AND \(StoreStatements.hasNotEnded)
            ORDER BY m.created_at, m.id
            """, uploadID
        ) { (StoreSnapshot.Multipart(id: $0.text("id"), partCount: $0.int("parts")), $0.bool("lost")) }
    }

    /// Whether an upload has an open multipart upload, one with a part, and one whose file is missing.
    func progress(uploadID: String) throws -> (hasMultipart: Bool, hasPart: Bool, hasLost: Bool) {
        try connection.first(StoreStatements.progress, uploadID) {
            ($0.bool("has_multipart"), $0.bool("has_part"), $0.bool("has_lost"))
        } ?? (false, false, false)
    }

    /// Returns the open multipart uploads beyond the maximum: first those without parts, each time the oldest. Clients continue
    /// with the latest one.
    ///
    /// - Parameters:
    ///   - maximum: the number that may be open; above 0.
    ///   - limit: the largest number of results.
    func surplusMultiparts(uploadID: String, maximum: Int, limit: Int) throws -> [String] {
        let oldest = try connection.query(
            """
            SELECT m.id, EXISTS (SELECT 1 FROM store_parts p WHERE p.multipart_id = m.id) AS has_part
            FROM store_multiparts m
            WHERE m.upload_id = $1 AND m.completed = 0 AND \(StoreStatements.hasNotEnded)
            ORDER BY m.created_at, m.id LIMIT $2
            """, uploadID, maximum + limit - 1
        ) { (id: $0.text("id"), hasPart: $0.bool("has_part")) }
        let surplus = max(0, oldest.count - (maximum - 1))
        return (oldest.filter { !$0.hasPart } + oldest.filter(\.hasPart)).prefix(surplus).map(\.id)
    }

    /// Returns multipart uploads of static keys whose beginning and parts are older than `time`.
    func directMultiparts(idleFor time: Duration, _ permit: DeletionPermit) throws -> [String] {
        let limit = try permit.now().subtracting(time)
        let idle = try connection.query(
            """
            SELECT m.id FROM store_multiparts m
            WHERE m.part_size = 0 AND m.completed = 0 AND \(permit.isBefore("m.created_at", "$1"))
            AND NOT EXISTS (
                SELECT 1 FROM store_parts p WHERE p.multipart_id = m.id AND NOT \(permit.isBefore("p.stored_at", "$1")))
            """, limit.microseconds
        ) { $0.text("id") }
        // A row with a time from after a step of the clock was committed after that step.
        _ = try permit.now()
        return idle
    }

    /// Returns open multipart uploads of static keys with keys from `first` to below `end`, sorted by the bytes of the key and then
    /// by id.
    ///
    /// - Parameter id: for the key `first`, only uploads with greater ids; empty = all.
    func directMultiparts(
        bucket: String, from first: String, after id: String, below end: String, limit: PageLimit
    ) throws -> PageRows<MultipartRecord> {
        try connection.page(
            limit,
            """
            SELECT \(multipartColumns) FROM store_multiparts m
            WHERE part_size = 0 AND completed = 0 AND bucket = $1 AND (object_key, id) > ($2, $3) AND object_key < $4
                AND lost = 0 AND \(StoreStatements.hasNotEnded)
            ORDER BY object_key, id LIMIT $5
            """, bucket, first, id, end, limit.statementRows, row: Self.multipart)
    }

    func markCompleted(_ id: String) throws where C == Connection {
        try connection.execute("UPDATE store_multiparts SET completed = 1 WHERE id = $1", id)
    }

    /// Deletes a multipart upload with its parts.
    func deleteMultipart(_ id: String) throws where C == Connection {
        try connection.execute("DELETE FROM store_multiparts WHERE id = $1", id)
    }

    /// Records a completed multipart upload, whatever its rows contain.
    func adopt(_ object: StoredObject, multipartID: String, partSize: Int64) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_multiparts
                (id, upload_id, bucket, object_key, file_id, part_size, content_type, created_at, completed)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1)
            ON CONFLICT (id) DO UPDATE SET completed = 1, lost = 0
            """,
            multipartID, object.uploadID, object.bucket, object.key, object.fileID, partSize, object.contentType,
            object.createdAt.microseconds)
        try forget(.one(id: multipartID, uploadID: object.uploadID))
        // Complete copied them into place.
        try connection.execute(
            "DELETE FROM store_parts WHERE multipart_id = $1 AND file_id IS NOT NULL", multipartID)
    }

    func part(_ number: Int, of multipartID: String) throws -> PartRecord? {
        try connection.first(
            "SELECT \(partColumns) FROM store_parts WHERE multipart_id = $1 AND number = $2 AND lost = 0",
            multipartID, number,
            row: Self.part)
    }

    /// Returns parts with a number above `marker`, in order.
    func parts(of multipartID: String, after marker: Int = 0, limit: Int = 10_000) throws -> [PartRecord] {
        try connection.query(
            """
            SELECT \(partColumns) FROM store_parts WHERE multipart_id = $1 AND number > $2 AND lost = 0
            ORDER BY number LIMIT $3
            """,
            multipartID, marker, limit, row: Self.part)
    }

    /// Stores a part, and replaces an earlier one with that number.
    func put(_ part: PartRecord, of multipartID: String) throws where C == Connection {
        try connection.executeSoon(
            """
            INSERT INTO store_parts
                (multipart_id, number, size, md5, crc64, file_id, stored_at, checksum, crc32, version, base_version)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (multipart_id, number) DO UPDATE SET
                size = excluded.size, md5 = excluded.md5, crc64 = excluded.crc64, file_id = excluded.file_id,
                stored_at = excluded.stored_at, checksum = excluded.checksum, crc32 = excluded.crc32, lost = 0,
                version = excluded.version, base_version = excluded.base_version
            """,
            multipartID, part.number, part.size, part.md5, Int64(bitPattern: part.crc64), part.fileID,
            part.storedAt.microseconds, part.checksum?.description, part.crc32.map(Int64.init), part.order.version,
            part.order.base)
    }

    /// Deletes a part.
    ///
    /// - Returns: `false` if it was replaced or deleted since it was read.
    func delete(_ part: PartRecord, of multipartID: String) throws -> Bool where C == Connection {
        try connection.execute(
            "DELETE FROM store_parts WHERE multipart_id = $1 AND number = $2 AND version = $3", multipartID,
            part.number, part.order.version) == 1
    }

    /// Whether a multipart upload is open and has these parts, and no others.
    func hasParts(_ versions: [PartVersion], of multipartID: String) throws -> Bool {
        func stored() throws -> [PartVersion] {
            try connection.query(
                "SELECT number, version FROM store_parts WHERE multipart_id = $1 AND lost = 0 ORDER BY number",
                multipartID
            ) { PartVersion(number: $0.int("number"), version: $0.int64("version")) }
        }
        try connection.together {
            _ = try multipart(multipartID)
            _ = try stored()
        }
        return try multipart(multipartID)?.isOpen == true && stored() == versions
    }

    private static func multipart(_ row: Row) -> MultipartRecord {
        MultipartRecord(
            id: row.text("id"), uploadID: row.text("upload_id"), bucket: row.text("bucket"),
            key: row.text("object_key"), fileID: row.text("file_id"),
            partSize: row.int64("part_size"), contentType: row.optionalText("content_type"),
            createdAt: row.time("created_at"),
            isCompleted: row.bool("completed"), isLost: row.bool("lost"),
            checksum: row.optionalText("checksum").flatMap(MultipartChecksum.init),
            kept: KeptFields(text: row.optionalText("kept")), forbidsOverwrite: row.bool("forbids_overwrite"))
    }

    private static func part(_ row: Row) -> PartRecord {
        PartRecord(
            number: row.int("number"), size: row.int64("size"), md5: row.blob("md5"),
            crc64: UInt64(bitPattern: row.int64("crc64")),
            crc32: crc32(row),
            fileID: row.optionalText("file_id"), storedAt: row.time("stored_at"),
            checksum: row.optionalText("checksum").flatMap(Checksum.init),
            order: WriteOrder(version: row.int64("version"), base: row.int64("base_version")))
    }
}

/// The version of a stored part.
struct PartVersion: Equatable, Sendable {
    let number: Int
    let version: Int64
}
