package import Basics
package import Database

extension StoreSchema {
    static let upkeepMigration = Migration(
        name: "store-upkeep",
        sql: """
            -- For a bucket. history: a random id, which is renewed whenever rows may have been lost; NULL = none yet. position: rises
            -- with the changes that the bucket is told of. swept_at: the end of the last sweep of the bucket's keys.
            ALTER TABLE store_identity ADD COLUMN history TEXT;
            ALTER TABLE store_identity ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE store_identity ADD COLUMN swept_at INTEGER;

            -- Segments of a bucket without a row that may be the bytes of an object: they are removed by an operator only.
            -- multipart_id and part_number: NULL for the bytes of a whole object.
            CREATE TABLE store_quarantine (
                segment_id TEXT PRIMARY KEY,
                size INTEGER NOT NULL,
                upload_id TEXT NOT NULL,
                bucket TEXT NOT NULL,
                object_key TEXT NOT NULL,
                multipart_id TEXT,
                part_number INTEGER,
                written_at INTEGER NOT NULL,
                found_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)
}

/// The age of a database, by which an engine recognizes one that lacks rows.
package struct StoreHistory: Sendable, Equatable {
    /// The id of the store.
    package let storeID: String
    /// A random id, which is renewed whenever rows may have been lost; `nil` = none yet.
    package let id: String?
    /// Rises with the changes of the store.
    package let position: Int64
    /// The end of the last sweep of the engine's files; `nil` = before the first one.
    package let sweptAt: UnixTime?
}

/// A segment of an engine without a row that may be the bytes of an object.
package struct QuarantinedSegment: Sendable, Equatable {
    package let id: String
    /// The size in bytes.
    package let size: Int64
    /// The object's place, when it was written.
    package let place: StoredObject.Place
    /// `nil` for the bytes of a whole object.
    package let part: SegmentPart?
    package let writtenAt: UnixTime

    package init(
        _ id: String, size: Int64, _ place: StoredObject.Place, part: SegmentPart?, writtenAt: UnixTime
    ) {
        self.id = id
        self.size = size
        self.place = place
        self.part = part
        self.writtenAt = writtenAt
    }
}

/// The multipart upload and the number of a part.
package struct SegmentPart: Sendable, Equatable {
    package let multipartID: String
    package let number: Int

    package init(multipartID: String, number: Int) {
        self.multipartID = multipartID
        self.number = number
    }
}

/// A segment with its place in a layout.
package struct NumberedSegment: Sendable, Equatable {
    package let number: Int
    package let segment: Segment

    package init(_ number: Int, _ segment: Segment) {
        self.number = number
        self.segment = segment
    }
}

// MARK: History

extension StoreRecords {
    package func history() throws -> StoreHistory? {
        try connection.first("SELECT id, history, position, swept_at FROM store_identity") { row in
            StoreHistory(
                storeID: row.text("id"), id: row.optionalText("history"), position: row.int64("position"),
                sweptAt: row.optionalInt64("swept_at").map { UnixTime(microseconds: $0) })
        }
    }

    package func setHistory(_ id: String) throws where C == Connection {
        try connection.execute("UPDATE store_identity SET history = $1", id)
    }

    package func advancePosition() throws where C == Connection {
        try connection.execute("UPDATE store_identity SET position = position + 1")
    }

    package func setSwept(at time: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE store_identity SET swept_at = $1", time.microseconds)
    }
}

// MARK: Keys

extension StoreRecords {
    /// Returns those of at most 1,000 ids that are segments of layouts, or whose removal is scheduled.
    package func referredSegments(among ids: [String]) throws -> Set<String> {
        guard !ids.isEmpty else { return [] }
        let padded = ParameterList.padded(ids)
        let segments = try connection.query(
            "SELECT segment_id FROM store_segments WHERE segment_id IN (\(ParameterList.text(padded.count)))",
            arguments: padded
        ) { $0.text("segment_id") }
        return try scheduledRemovals(among: ids).union(segments)
    }

    /// Returns those of at most 1,000 ids whose removal is scheduled.
    package func scheduledRemovals(among ids: [String]) throws -> Set<String> {
        guard !ids.isEmpty else { return [] }
        let padded = ParameterList.padded(ids)
        return Set(
            try connection.query(
                "SELECT file_id FROM store_removals WHERE file_id IN (\(ParameterList.text(padded.count)))",
                arguments: padded
            ) { $0.text("file_id") })
    }

    /// Returns those of at most 1,000 ids that are files of finished objects.
    package func objectFiles(among ids: [String]) throws -> Set<String> {
        guard !ids.isEmpty else { return [] }
        let padded = ParameterList.padded(ids)
        return Set(
            try connection.query(
                "SELECT file_id FROM store_objects WHERE file_id IN (\(ParameterList.text(padded.count)))",
                arguments: padded
            ) { $0.text("file_id") })
    }

    /// Whether a multipart upload is completed; `nil` if it does not exist.
    package func isCompleted(multipart id: String) throws -> Bool? {
        try connection.first("SELECT completed FROM store_multiparts WHERE id = $1", id) { $0.bool("completed") }
    }

    package func hasObject(uploadID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_objects WHERE upload_id = $1", uploadID)
    }
}

// MARK: Repairs

extension StoreRecords {
    /// Returns the segments from above the id `first` to `last`, with their layouts; `nil` = to the end.
    package func segments(
        after first: String, through last: String?
    ) throws -> [(id: String, layoutID: String, size: Int64)] {
        // "g" comes after every hexadecimal digit.
        try connection.query(
            "SELECT segment_id, layout_id, size FROM store_segments WHERE segment_id > $1 AND segment_id <= $2", first,
            last ?? "g"
        ) { ($0.text("segment_id"), $0.text("layout_id"), $0.int64("size")) }
    }

    /// Returns the finished objects with a layout.
    package func objects(layout layoutID: String) throws -> [StoredFile] {
        try connection.query(
            """
            SELECT o.file_id, o.size, o.crc64 FROM store_files f JOIN store_objects o ON o.file_id = f.file_id
            WHERE f.layout_id = $1 ORDER BY o.file_id
            """, layoutID, row: Self.file)
    }

    /// Returns the finished objects without a layout.
    package func objectsWithoutLayout() throws -> [StoredFile] {
        try connection.query(
            """
            SELECT o.file_id, o.size, o.crc64 FROM store_objects o
            WHERE NOT EXISTS (SELECT 1 FROM store_files f WHERE f.file_id = o.file_id) ORDER BY o.file_id
            """, row: Self.file)
    }

    /// Makes a file of segments whatever its rows contain.
    package func adopt(_ fileID: String, _ segments: [NumberedSegment]) throws where C == Connection {
        for segment in segments {
            try removed([segment.segment.id])
            try leaveQuarantine(segment.segment.id)
        }
        if let first = segments.first, let other = try layout(ofSegment: first.segment.id),
            try self.segments(of: other).map({ NumberedSegment($0.number, $0.segment) }) == segments
        {
            return try setLayout(other, of: fileID)
        }
        let layoutID = try layout(of: fileID) ?? fileID
        try dropSegments(through: .max, of: layoutID)
        for segment in segments { _ = try setSegment(segment.number, of: layoutID, to: segment.segment) }
        try setLayout(layoutID, of: fileID)
    }

    private func layout(ofSegment id: String) throws -> String? {
        try connection.first("SELECT layout_id FROM store_segments WHERE segment_id = $1", id) {
            $0.text("layout_id")
        }
    }

    private func setLayout(_ layoutID: String, of fileID: String) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_files (file_id, layout_id) VALUES ($1, $2)
            ON CONFLICT (file_id) DO UPDATE SET layout_id = excluded.layout_id
            """, fileID, layoutID)
    }
}

// MARK: Quarantine

extension StoreRecords {
    /// Puts a segment into quarantine.
    ///
    /// - Returns: whether it was not there before.
    package func quarantine(
        _ segment: QuarantinedSegment, at time: UnixTime
    ) throws -> Bool where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_quarantine
                (segment_id, size, upload_id, bucket, object_key, multipart_id, part_number, written_at, found_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (segment_id) DO NOTHING
            """,
            segment.id, segment.size, segment.place.uploadID, segment.place.bucket, segment.place.key,
            segment.part?.multipartID, segment.part?.number, segment.writtenAt.microseconds, time.microseconds) == 1
    }

    /// Returns the segments in quarantine with ids above `last`, in order.
    package func quarantined(after last: String, limit: Int) throws -> [QuarantinedSegment] {
        try connection.query(
            """
            SELECT segment_id, size, upload_id, bucket, object_key, multipart_id, part_number, written_at
            FROM store_quarantine WHERE segment_id > $1 ORDER BY segment_id LIMIT $2
            """, last, limit
        ) { row in
            QuarantinedSegment(
                row.text("segment_id"), size: row.int64("size"),
                StoredObject.Place(
                    bucket: row.text("bucket"), key: row.text("object_key"), uploadID: row.text("upload_id")),
                part: row.optionalText("multipart_id").map {
                    SegmentPart(multipartID: $0, number: row.int("part_number"))
                }, writtenAt: row.time("written_at"))
        }
    }

    /// Returns the ids of the segments in quarantine from above `first` to `last`; `nil` = to the end.
    package func quarantinedIDs(after first: String, through last: String?) throws -> Set<String> {
        // "g" comes after every hexadecimal digit.
        Set(
            try connection.query(
                "SELECT segment_id FROM store_quarantine WHERE segment_id > $1 AND segment_id <= $2", first, last ?? "g"
            ) { $0.text("segment_id") })
    }

    package func isQuarantined(_ segmentID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_quarantine WHERE segment_id = $1", segmentID)
    }

    package func leaveQuarantine(_ segmentID: String) throws where C == Connection {
        try connection.execute("DELETE FROM store_quarantine WHERE segment_id = $1", segmentID)
    }
}
