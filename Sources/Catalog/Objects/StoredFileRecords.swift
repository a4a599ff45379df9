package import Basics
import Crypto
import Database

/// The columns and indexes by which owners find the files that they uploaded.
enum StoredFileSchema {
    static let migration = Migration(
        name: "catalog-stored-files",
        sql: """
            CREATE INDEX objects_by_path
                ON objects (coalesce(device_id, site_id), coalesce(relative_path, name), size);

            -- path_digest: of the path by which the owner knew the file; NULL in both = of a version that did not keep it.
            ALTER TABLE deleted_objects ADD COLUMN path_digest INTEGER;
            ALTER TABLE deleted_objects ADD COLUMN crc64 INTEGER;
            CREATE INDEX deleted_objects_by_path
                ON deleted_objects (coalesce(device_id, site_id), path_digest, size);
            """)

    /// The device or the site that owns an object, as the indexes by path have it. The types differ, so PostgreSQL's schema has a
    /// function of this name for them; without the quotation marks it would be the keyword there.
    static let owner = #""coalesce"(device_id, site_id)"#

    /// Returns 64 bits of a digest of the path: a record of a deletion does not keep the path itself.
    static func digest(_ path: String) -> Int64 {
        Int64(bitPattern: Digest.sha256(Array(path.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

/// A file that its owner may have uploaded before.
package struct LocalFileDescription: Sendable, Hashable {
    /// The path below the folder that is uploaded, else the name; `nil` = unknown.
    package let path: String?
    package let size: Int64
    /// CRC-64/XZ of the bytes; `nil` = unknown.
    package let crc64: UInt64?
    /// The id of the object that was made of it; empty = unknown.
    package let fileID: String

    package init(path: String?, size: Int64, crc64: UInt64?, fileID: String) {
        self.path = path
        self.size = size
        self.crc64 = crc64
        self.fileID = fileID
    }
}

/// An object that was made of a file, in lists or not.
package struct StoredFileRecord: Sendable, Hashable {
    package enum State: Int, Sendable, Comparable {
        case stored
        case corrupted
        /// In the trash, or deleted.
        case deleted

        package static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    package let state: State
    package let fileID: String
    /// CRC-64/XZ of the bytes; `nil` = unknown.
    package let crc64: UInt64?
    package let verifiedAt: UnixTime
}

extension ObjectRecords {
    private static var owner: String { StoredFileSchema.owner }

    /// The number of objects of one path and size that are compared, newest first.
    private static var mostCompared: Int { 100 }

    /// Finds the object that was made of a file. Without the file's checksum, it is the newest of the file's path and size.
    package func find(_ file: LocalFileDescription, of owner: ObjectOwner) throws -> StoredFileRecord? {
        let identified = try identified(file, of: owner)
        let known = try identified + objects(like: file, of: owner)
        return try Self.best(known, file) ?? Self.best(deleted(file, of: owner), file)
    }

    /// The first that is stored, else that is corrupted, of those with the bytes of the file, or of the newest.
    private static func best(_ records: [StoredFileRecord], _ file: LocalFileDescription) -> StoredFileRecord? {
        guard let first = records.first else { return nil }
        let isIdentified = first.fileID == file.fileID
        guard let crc64 = file.crc64 ?? first.crc64 else { return isIdentified ? first : nil }
        // An object without a checksum is known by its id only.
        return records.filter { $0.crc64 == crc64 || ($0.crc64 == nil && $0.fileID == file.fileID) }
            .min { $0.state < $1.state }
    }

    private func identified(_ file: LocalFileDescription, of owner: ObjectOwner) throws -> [StoredFileRecord] {
        guard !file.fileID.isEmpty else { return [] }
        let rows = """
            WHERE file_id = $1 AND \(Self.owner) = $2 AND size = $3 AND organization_id = $4
            """
        let arguments: [(any Bindable)?] = [file.fileID, owner.key, file.size, owner.organizationID]
        let object = try connection.query(
            "SELECT \(Self.columns) FROM objects \(rows)", arguments: arguments, row: StoredFileRecord.init)
        guard object.isEmpty else { return object }
        return try connection.query(
            "SELECT \(Self.deletedColumns) FROM deleted_objects \(rows)", arguments: arguments,
            row: StoredFileRecord.init)
    }

    private func objects(like file: LocalFileDescription, of owner: ObjectOwner) throws -> [StoredFileRecord] {
        guard let path = file.path else { return [] }
        return try connection.query(
            Self.objectsLikeFile, owner.key, path, file.size, owner.organizationID, Self.mostCompared,
            row: StoredFileRecord.init)
    }

    private func deleted(_ file: LocalFileDescription, of owner: ObjectOwner) throws -> [StoredFileRecord] {
        guard let path = file.path else { return [] }
        return try connection.query(
            Self.deletedLikeFile, owner.key, StoredFileSchema.digest(path), file.size, owner.organizationID,
            Self.mostCompared, row: StoredFileRecord.init)
    }

    static var objectsLikeFile: String {
        """
        SELECT \(columns) FROM objects
        WHERE \(owner) = $1 AND coalesce(relative_path, name) = $2 AND size = $3
            AND organization_id = $4
        ORDER BY position DESC LIMIT $5
        """
    }

    static var deletedLikeFile: String {
        """
        SELECT \(deletedColumns) FROM deleted_objects
        WHERE \(owner) = $1 AND path_digest = $2 AND size = $3 AND organization_id = $4
        LIMIT $5
        """
    }

    /// The columns that `StoredFileRecord.init` reads.
    private static var columns: String {
        """
        file_id, crc64, verified_at, CASE WHEN trashed_at IS NOT NULL THEN \(StoredFileRecord.State.deleted.rawValue)
            WHEN bad_at IS NOT NULL THEN \(StoredFileRecord.State.corrupted.rawValue)
            ELSE \(StoredFileRecord.State.stored.rawValue) END AS state
        """
    }

    private static var deletedColumns: String {
        "file_id, crc64, verified_at, \(StoredFileRecord.State.deleted.rawValue) AS state"
    }
}

extension ObjectOwner {
    /// The owner as the indexes of files know it: the device's id, else the site's.
    fileprivate var key: any Bindable {
        if let deviceID { return deviceID }
        return siteID
    }
}

extension StoredFileRecord {
    fileprivate init(_ row: Row) {
        self.init(
            state: State(rawValue: Int(row.int64("state"))) ?? .corrupted, fileID: row.text("file_id"),
            crc64: row.optionalInt64("crc64").map { UInt64(bitPattern: $0) }, verifiedAt: row.time("verified_at"))
    }
}
