package import Database

extension StoreSchema {
    static let segmentMigration = Migration(
        name: "store-segments",
        sql: """
            -- The data files of an engine that keeps them in segments. Files with the same bytes, such as copies, share a layout.
            CREATE TABLE store_files (file_id TEXT PRIMARY KEY, layout_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE INDEX store_files_by_layout ON store_files (layout_id);

            -- The segments of a layout, one after the other in the order of their numbers. segment_id: its name in the engine.
            CREATE TABLE store_segments (
                layout_id TEXT NOT NULL,
                number INTEGER NOT NULL,
                segment_id TEXT NOT NULL UNIQUE,
                size INTEGER NOT NULL,
                crc64 INTEGER NOT NULL,
                PRIMARY KEY (layout_id, number)
            ) STRICT, WITHOUT ROWID;
            """)
}

extension StoreSchema {
    static let smallSegmentMigration = Migration(
        name: "store-small-segments",
        sql: """
            -- For finding objects of small parts, which are stored anew in larger segments.
            CREATE INDEX store_small_segments ON store_segments (layout_id) WHERE number = 2 AND size < 8388608;
            """)
}

/// A piece of a data file, which does not change.
package struct Segment: Sendable, Equatable {
    /// Its name in the engine.
    package let id: String
    package let content: FileContent

    package init(_ id: String, _ content: FileContent) {
        self.id = id
        self.content = content
    }

    /// The size in bytes.
    package var size: Int64 { content.size }
}

/// The data files that are made of segments.
///
/// The segments of a layout change only as long as one file has it: those of a multipart upload that is not completed, and of an
/// appendable object, whose file has another id after each append.
extension StoreRecords {
    /// Returns the layout of a data file; `nil` if there is no such file.
    package func layout(of fileID: String) throws -> String? {
        try connection.first("SELECT layout_id FROM store_files WHERE file_id = $1", fileID) { $0.text("layout_id") }
    }

    func hasSegmentedFiles() throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_files LIMIT 1")
    }

    /// Whether several files have the layout.
    package func isShared(layout layoutID: String) throws -> Bool {
        try connection.first(
            "SELECT count(*) AS files FROM (SELECT 1 FROM store_files WHERE layout_id = $1 LIMIT 2) sharing", layoutID
        ) { $0.int("files") > 1 } ?? false
    }

    /// Whether a layout has the segment.
    package func isSegment(_ id: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_segments WHERE segment_id = $1", id)
    }

    /// Returns the segments of a layout with a number above `number`, in order.
    package func segments(
        of layoutID: String, after number: Int = 0, limit: Int = 10_000
    ) throws -> [(number: Int, segment: Segment)] {
        try connection.query(
            """
            SELECT number, segment_id, size, crc64 FROM store_segments WHERE layout_id = $1 AND number > $2
            ORDER BY number LIMIT $3
            """, layoutID, number, limit
        ) { row in
            (
                row.int("number"),
                Segment(
                    row.text("segment_id"),
                    FileContent(size: row.int64("size"), crc64: UInt64(bitPattern: row.int64("crc64"))))
            )
        }
    }

    package func addFile(_ fileID: String, layout layoutID: String) throws where C == Connection {
        try connection.execute("INSERT INTO store_files (file_id, layout_id) VALUES ($1, $2)", fileID, layoutID)
    }

    /// Adds a file with the bytes of another.
    ///
    /// - Returns: `false` if the other one does not exist, or is to be removed.
    package func addFile(_ fileID: String, sameAs other: String) throws -> Bool where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_files (file_id, layout_id)
            SELECT $1, f.layout_id FROM store_files f WHERE f.file_id = $2
            AND NOT EXISTS (SELECT 1 FROM store_removals r WHERE r.file_id = f.file_id)
            """, fileID, other) == 1
    }

    /// Makes another layout that of all files that have one.
    package func moveFiles(of layoutID: String, to other: String) throws where C == Connection {
        try connection.execute("UPDATE store_files SET layout_id = $2 WHERE layout_id = $1", layoutID, other)
    }

    /// Returns finished objects whose second segment is small, in the order of their layouts.
    package func smallFiles(after layoutID: String, limit: Int) throws -> [(fileID: String, layoutID: String)] {
        try connection.query(
            """
            SELECT min(f.file_id) AS file_id, s.layout_id FROM store_segments s
            JOIN store_files f ON f.layout_id = s.layout_id JOIN store_objects o ON o.file_id = f.file_id
            WHERE s.number = 2 AND s.size < 8388608 AND s.layout_id > $1
            GROUP BY s.layout_id ORDER BY s.layout_id LIMIT $2
            """, layoutID, limit
        ) { ($0.text("file_id"), $0.text("layout_id")) }
    }

    /// Sets a segment of a layout.
    ///
    /// - Returns: the id of the segment that it replaces.
    package func setSegment(
        _ number: Int, of layoutID: String, to segment: Segment
    ) throws -> String? where C == Connection {
        let replaced = try connection.first(
            "SELECT segment_id FROM store_segments WHERE layout_id = $1 AND number = $2", layoutID, number
        ) { $0.text("segment_id") }
        try connection.execute(
            """
            INSERT INTO store_segments (layout_id, number, segment_id, size, crc64) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (layout_id, number) DO UPDATE SET
                segment_id = excluded.segment_id, size = excluded.size, crc64 = excluded.crc64
            """, layoutID, number, segment.id, segment.size, Int64(bitPattern: segment.content.crc64))
        return replaced
    }

    /// Returns the number of the last segment of a layout; 0 without one.
    package func lastSegment(of layoutID: String) throws -> Int {
        try connection.first(
            "SELECT number FROM store_segments WHERE layout_id = $1 ORDER BY number DESC LIMIT 1", layoutID
        ) { $0.int("number") } ?? 0
    }

    /// Deletes a segment.
    ///
    /// - Returns: its id; `nil` without such a segment.
    package func dropSegment(_ number: Int, of layoutID: String) throws -> String? where C == Connection {
        try connection.first(
            "DELETE FROM store_segments WHERE layout_id = $1 AND number = $2 RETURNING segment_id", layoutID, number
        ) { $0.text("segment_id") }
    }

    /// Deletes the segments of a layout up to a number.
    package func dropSegments(through number: Int, of layoutID: String) throws where C == Connection {
        try connection.execute(
            "DELETE FROM store_segments WHERE layout_id = $1 AND number <= $2", layoutID, number)
    }

    func forgetSegments() throws where C == Connection {
        try connection.execute("DELETE FROM store_segments")
        try connection.execute("DELETE FROM store_files")
        try connection.execute("DELETE FROM store_quarantine")
    }

    /// Deletes a file that has no segments, or whose segments another file has.
    package func forgetFile(_ fileID: String) throws where C == Connection {
        try connection.execute("DELETE FROM store_files WHERE file_id = $1", fileID)
    }
}
