import Basics
import Database
import ObjectFilters

/// The tables of ``NameIndexRecords``.
enum NameIndexSchema {
    static let migration = Migration(
        name: "catalog-trigrams",
        sql: """
            -- The objects whose names have a trigram. segment: their position / 32768. positions: see SegmentPositions; objects
            -- that were deleted since may be among them, and objects of other segments never. A name never changes.
            CREATE TABLE object_trigrams (
                organization_id INTEGER NOT NULL,
                segment INTEGER NOT NULL,
                trigram TEXT NOT NULL,
                positions BLOB NOT NULL,
                PRIMARY KEY (organization_id, segment, trigram)
            ) STRICT, WITHOUT ROWID;

            -- One row at most. The names of objects from first_position on and below end_position are in object_trigrams;
            -- without a row none is.
            CREATE TABLE object_trigram_range (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                first_position INTEGER NOT NULL,
                end_position INTEGER NOT NULL
            ) STRICT;
            INSERT INTO object_trigram_range (id, first_position, end_position)
            SELECT 1, max(position) + 1, max(position) + 1 FROM objects HAVING count(*) > 0;
            """)
}

/// A name that is not in the index yet.
struct UnindexedName {
    let position: Int64
    let organizationID: Int64
    /// In lower case.
    let text: String
}

/// A segment of an organization.
struct NameSegment: Hashable, Sendable {
    /// Before all others.
    static let start = NameSegment(organizationID: .min, number: .min)

    let organizationID: Int64
    /// The positions of its objects, divided by ``SegmentPositions/span``.
    let number: Int64
}

/// The keys of names in a segment, each with the offsets of its positions, ascending.
typealias NameRows = [(key: String, offsets: [UInt16])]

/// The SQL of the index of names.
struct NameIndexRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the positions whose names are in segments; the range is empty if no name is.
    func range() throws -> Range<Int64> {
        let range = try connection.first("SELECT first_position, end_position FROM object_trigram_range") {
            (first: $0.int64("first_position"), end: $0.int64("end_position"))
        }
        guard let range, range.first <= range.end else { return 0..<0 }
        return range.first..<range.end
    }

    func setRange(_ range: Range<Int64>) throws where C == Connection {
        // A schema on a server begins without the row.
        try connection.execute(
            """
            INSERT INTO object_trigram_range (id, first_position, end_position) VALUES (1, $1, $2)
            ON CONFLICT (id) DO UPDATE SET first_position = excluded.first_position, end_position = excluded.end_position
            """, range.lowerBound, range.upperBound)
    }

    /// Returns the stored positions of a key in a segment; `nil` = no name there has it.
    func positions(_ key: String, in segment: NameSegment) throws -> [UInt8]? {
        try connection.first(
            "SELECT positions FROM object_trigrams WHERE organization_id = $1 AND segment = $2 AND trigram = $3",
            segment.organizationID, segment.number, key
        ) { $0.blob("positions") }
    }

    /// Returns the sizes in bytes of the keys that names of a segment have.
    func sizes(of keys: [String], in segment: NameSegment) throws -> [String: Int] {
        let keys = ParameterList.padded(keys)
        let rows = try connection.query(
            """
            SELECT trigram, octet_length(positions) AS bytes FROM object_trigrams
            WHERE organization_id = $1 AND segment = $2 AND trigram IN (\(ParameterList.text(keys.count, from: 3)))
            """, arguments: [segment.organizationID, segment.number] + keys
        ) { ($0.text("trigram"), $0.int("bytes")) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// Returns names from a position on, in ascending order.
    func names(from position: Int64, limit: Int) throws -> [UnindexedName] {
        try names(
            "SELECT position, organization_id, name FROM objects WHERE position >= $1 ORDER BY position LIMIT $2",
            position, limit)
    }

    /// Returns names below a position, in descending order.
    func names(below position: Int64, limit: Int) throws -> [UnindexedName] {
        try names(
            "SELECT position, organization_id, name FROM objects WHERE position < $1 ORDER BY position DESC LIMIT $2",
            position, limit)
    }

    private func names(_ sql: String, _ position: Int64, _ limit: Int) throws -> [UnindexedName] {
        let rows = try connection.query(sql, position, limit) {
            ($0.int64("position"), $0.int64("organization_id"), $0.optionalText("name"))
        }
        return try rows.map { position, organizationID, name in
            UnindexedName(
                position: position, organizationID: organizationID,
                text: try (name ?? derivedName(at: position)).lowercasedByScalar)
        }
    }

    /// Returns the name of an object of a version that stored none; it is made of its tags, and stays the same when these change.
    private func derivedName(at position: Int64) throws -> String {
        let object = try connection.first(
            "SELECT \(CatalogObject.columns) FROM objects o WHERE o.position = $1", position, row: CatalogObject.init)
        return try object.map { $0.name(tags: try ObjectRecords(connection).tags(position: position)).text } ?? ""
    }

    /// The numbers of rows in one statement.
    private static var counts: [Int] { [64, 16, 4, 1] }

    /// Adds positions to rows of a segment.
    ///
    /// - Parameter rows: the keys, each with its offsets in ascending order.
    func add(_ rows: NameRows.SubSequence, to segment: NameSegment) throws where C == Connection {
        guard !rows.isEmpty else { return }
        let keys = ParameterList.padded(rows.map(\.key))
        let stored = try connection.query(
            """
            SELECT trigram, positions FROM object_trigrams
            WHERE organization_id = $1 AND segment = $2 AND trigram IN (\(ParameterList.text(keys.count, from: 3)))
            """, arguments: [segment.organizationID, segment.number] + keys
        ) { ($0.text("trigram"), $0.blob("positions")) }
        let before = Dictionary(uniqueKeysWithValues: stored)
        var start = rows.startIndex
        while start < rows.endIndex {
            // A few numbers of rows, so that few statements are prepared.
            let count = Self.counts.first { $0 <= rows.endIndex - start } ?? 1
            var arguments: [(any Bindable)?] = [segment.organizationID, segment.number]
            for row in rows[start..<start + count] {
                let offsets = before[row.key].map { SegmentPositions.union(SegmentPositions.decode($0), row.offsets) }
                arguments += [row.key, SegmentPositions.encode(offsets ?? row.offsets)] as [(any Bindable)?]
            }
            let values = (0..<count).map { "($1, $2, $\(3 + 2 * $0), $\(4 + 2 * $0))" }.joined(separator: ", ")
            try connection.execute(
                """
                INSERT INTO object_trigrams (organization_id, segment, trigram, positions) VALUES \(values)
                ON CONFLICT (organization_id, segment, trigram) DO UPDATE SET positions = excluded.positions
                """, arguments: arguments)
            start += count
        }
    }

    /// Returns the first segment after another one, in the order of organizations and positions.
    func segment(after segment: NameSegment) throws -> NameSegment? {
        let own = try connection.first(
            """
            SELECT segment FROM object_trigrams WHERE organization_id = $1 AND segment > $2
            ORDER BY organization_id, segment LIMIT 1
            """, segment.organizationID, segment.number
        ) { NameSegment(organizationID: segment.organizationID, number: $0.int64("segment")) }
        return try own
            ?? connection.first(
                """
                SELECT organization_id, segment FROM object_trigrams WHERE organization_id > $1
                ORDER BY organization_id, segment LIMIT 1
                """, segment.organizationID
            ) { NameSegment(organizationID: $0.int64("organization_id"), number: $0.int64("segment")) }
    }

    /// Whether an object of a segment exists, in the trash or not.
    func hasObjects(_ segment: NameSegment) throws -> Bool {
        let first = segment.number * SegmentPositions.span
        let isListed = try connection.hasRow(
            """
            SELECT 1 FROM objects WHERE organization_id = $1 AND trashed_at IS NULL AND position >= $2 AND position < $3
            ORDER BY position LIMIT 1
            """, segment.organizationID, first, first + SegmentPositions.span)
        guard !isListed else { return true }
        return try connection.hasRow(
            """
            SELECT 1 FROM objects WHERE organization_id = $1 AND trashed_at IS NOT NULL AND position >= $2 AND position < $3
            ORDER BY position LIMIT 1
            """, segment.organizationID, first, first + SegmentPositions.span)
    }

    /// Removes rows of a segment.
    ///
    /// - Returns: their number; fewer than `limit` if none is left.
    func remove(_ segment: NameSegment, limit: Int) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM object_trigrams WHERE organization_id = $1 AND segment = $2 AND trigram IN (
                SELECT trigram FROM object_trigrams WHERE organization_id = $1 AND segment = $2
                ORDER BY trigram LIMIT $3)
            """, segment.organizationID, segment.number, limit)
    }
}
