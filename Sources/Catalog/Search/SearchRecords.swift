import Basics
package import Database

/// The tables of ``SearchRecords``.
enum SearchSchema {
    /// The lengths of the time spans for which `object_times` has rows, in microseconds.
    static let slot: Int64 = 600_000_000
    static let day: Int64 = 86_400_000_000

    static let migration = Migration(
        name: "catalog-search",
        sql: """
            -- kind: 1 = names, 2 = devices and values of tags, 3 = content types. prefix: in lower case for 1 and 2.
            CREATE TABLE object_prefixes (
                organization_id INTEGER NOT NULL,
                kind INTEGER NOT NULL,
                prefix TEXT NOT NULL,
                position INTEGER NOT NULL,
                PRIMARY KEY (organization_id, kind, prefix, position)
            ) STRICT, WITHOUT ROWID;

            -- objects: how many are outside the trash. kind: 1 = all, 2 = by device, 3 = by site, 4 = by day of creation,
            -- 5 = by value of the tag `key`, 6 = by key of a tag.
            CREATE TABLE object_facets (
                organization_id INTEGER NOT NULL,
                kind INTEGER NOT NULL,
                key TEXT NOT NULL,
                value TEXT NOT NULL,
                objects INTEGER NOT NULL,
                PRIMARY KEY (organization_id, kind, key, value)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX object_facets_by_objects ON object_facets (organization_id, kind, key, objects);

            -- Between which positions the objects are that were created in a span of time. span: its length in
            -- microseconds, 10 minutes or a day. start: its beginning, in such spans since 1970. The bounds are never
            -- narrowed.
            CREATE TABLE object_times (
                organization_id INTEGER NOT NULL,
                span INTEGER NOT NULL,
                start INTEGER NOT NULL,
                first_position INTEGER NOT NULL,
                last_position INTEGER NOT NULL,
                PRIMARY KEY (organization_id, span, start)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO object_times (organization_id, span, start, first_position, last_position)
            SELECT organization_id, \(slot), created_at / \(slot), min(position), max(position) FROM objects
            GROUP BY organization_id, created_at / \(slot);
            INSERT INTO object_times (organization_id, span, start, first_position, last_position)
            SELECT organization_id, \(day), start * \(slot) / \(day), min(first_position), max(last_position)
            FROM object_times GROUP BY organization_id, start * \(slot) / \(day);
            CREATE TRIGGER object_times_inserted AFTER INSERT ON objects BEGIN
                INSERT INTO object_times (organization_id, span, start, first_position, last_position)
                VALUES
                    (NEW.organization_id, \(slot), NEW.created_at / \(slot), NEW.position, NEW.position),
                    (NEW.organization_id, \(day), NEW.created_at / \(day), NEW.position, NEW.position)
                ON CONFLICT (organization_id, span, start) DO UPDATE SET
                    first_position = min(first_position, excluded.first_position),
                    last_position = max(last_position, excluded.last_position);
            END;

            CREATE INDEX objects_in_trash ON objects (organization_id, position) WHERE trashed_at IS NOT NULL;

            -- The orders of lists beside that by position.
            CREATE INDEX objects_by_creation ON objects (organization_id, created_at, position);
            CREATE INDEX objects_by_size ON objects (organization_id, size, position);
            CREATE INDEX objects_by_name ON objects (organization_id, coalesce(lower(name), ''), position);

            -- One row at most. position: objects below it, of earlier versions, have no rows in object_prefixes and
            -- object_facets yet.
            CREATE TABLE search_upgrade (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                position INTEGER NOT NULL
            ) STRICT;
            INSERT INTO search_upgrade (id, position)
            SELECT 1, max(position) + 1 FROM objects HAVING count(*) > 0;
            """)
}

/// The numbers of rows of prefixes in one statement are multiples of this, so that few statements are prepared.
private let step = 8

/// The SQL of the search and facet tables.
///
/// An object has rows from the commit that creates it until it moves to the trash or is deleted, and again after it is restored.
package struct SearchRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    /// Adds an object to the search and facet tables: one that leaves the trash, or whose tags changed after ``remove(objectID:)``.
    package func enter(objectID: String) throws where C == Connection {
        if let entry = try entry(objectID: objectID) { try enter(entry) }
    }

    /// Removes an object from the search and facet tables. Called before it moves to the trash, is deleted, or its tags change.
    package func remove(objectID: String) throws where C == Connection {
        if let entry = try entry(objectID: objectID) { try remove(entry) }
    }

    func enter(_ entry: SearchEntry) throws where C == Connection {
        var prefixes = entry.prefixes
        if let last = prefixes.last {
            let missing = (step - prefixes.count % step) % step
            prefixes += repeatElement(last, count: missing)
        }
        let rows = Self.rows(prefixes.count) { "($1, $\(3 + 2 * $0), $\(4 + 2 * $0), $2)" }
        if !prefixes.isEmpty {
            try connection.executeSoon(
                "INSERT INTO object_prefixes (organization_id, kind, prefix, position) VALUES \(rows) ON CONFLICT DO NOTHING",
                arguments: [entry.organizationID, entry.position]
                    + prefixes.flatMap { [$0.kind.rawValue, $0.text] as [(any Bindable)?] })
        }
        try add(1, to: entry)
    }

    /// Adds the size of an object, and its content type, to sums that have the object without them.
    func enterBytes(of entry: SearchEntry) throws where C == Connection {
        for facet in entry.facets {
            try connection.executeSoon(
                Self.addition(of: 1), entry.organizationID, facet.kind == .contentType ? 1 : 0, entry.size,
                facet.kind.rawValue, facet.key, facet.value)
        }
    }

    func remove(_ entry: SearchEntry) throws where C == Connection {
        let prefixes = Set(entry.prefixes.map(\.text))
        if !prefixes.isEmpty {
            try connection.execute(
                """
                DELETE FROM object_prefixes WHERE organization_id = $1 AND kind IN (1, 2, 3)
                    AND prefix IN (\(ParameterList.text(prefixes.count, from: 3))) AND position = $2
                """, arguments: [entry.organizationID, entry.position] + Array(prefixes))
        }
        try add(-1, to: entry)
        let keys = Set(entry.facets.map(\.key))
        try connection.execute(
            """
            DELETE FROM object_facets WHERE organization_id = $1 AND kind IN (1, 2, 3, 5, 6, 7, 8)
                AND key IN (\(ParameterList.text(keys.count, from: 2))) AND objects <= 0
            """, arguments: [entry.organizationID] + Array(keys))
    }

    /// Returns the rows of a VALUES clause, separated by commas.
    private static func rows(_ count: Int, _ row: (Int) -> String) -> String {
        var rows = ""
        rows.reserveCapacity(count * 32)
        for index in 0..<count {
            if index > 0 { rows += ", " }
            rows += row(index)
        }
        return rows
    }

    private func add(_ objects: Int, to entry: SearchEntry) throws where C == Connection {
        let facets = entry.facets
        let bytes = entry.hasBytes ? Int64(objects) * entry.size : 0
        try connection.executeSoon(
            Self.addition(of: facets.count), arguments: [entry.organizationID, objects, bytes] + Self.values(facets))
    }

    /// Returns the statement that adds the objects $2 with the bytes $3 to rows of the organization $1.
    private static func addition(of count: Int) -> String {
        let rows = rows(count) { "($1, $\(4 + 3 * $0), $\(5 + 3 * $0), $\(6 + 3 * $0), $2, $3)" }
        return """
            INSERT INTO object_facets (organization_id, kind, key, value, objects, bytes) VALUES \(rows)
            ON CONFLICT (organization_id, kind, key, value) DO UPDATE SET
                objects = object_facets.objects + excluded.objects, bytes = object_facets.bytes + excluded.bytes
            """
    }

    /// Counts an object by the beginning of its recording, which has become known, and no longer by that of its upload.
    ///
    /// - Parameter object: one that is not in the trash.
    func moveRecording(of object: ObjectPlace, from old: UnixTime, to new: UnixTime) throws where C == Connection {
        let (old, new) = (QuarterHour.text(of: old), QuarterHour.text(of: new))
        let progress = try self.progress()
        guard old != new, progress.hasObject(at: object.position) else { return }
        try move(
            .recorded, from: old, to: new, organizationID: object.organizationID,
            bytes: progress.hasBytes(at: object.position) ? object.size : 0)
    }

    /// Moves one object from one row of a kind without keys to another.
    private func move(
        _ kind: FacetKind, from old: String, to new: String, organizationID: Int64, bytes: Int64
    ) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO object_facets (organization_id, kind, key, value, objects, bytes)
            VALUES ($1, $2, '', $3, -1, $5), ($1, $2, '', $4, 1, $6)
            ON CONFLICT (organization_id, kind, key, value) DO UPDATE SET
                objects = object_facets.objects + excluded.objects, bytes = object_facets.bytes + excluded.bytes
            """, organizationID, kind.rawValue, old, new, -bytes, bytes)
        try connection.execute(
            """
            DELETE FROM object_facets
            WHERE organization_id = $1 AND kind = $2 AND key = '' AND value = $3 AND objects <= 0
            """, organizationID, kind.rawValue, old)
    }

    private static func values(_ facets: [SearchEntry.Facet]) -> [(any Bindable)?] {
        facets.flatMap { [$0.kind.rawValue, $0.key, $0.value] as [(any Bindable)?] }
    }

    /// Replaces an object's content type, which was unknown, in the search tables.
    func setContentType(_ type: String, ofFile fileID: String) throws where C == Connection {
        let found = try connection.first(
            """
            SELECT position, organization_id, size, \(SearchProgress.columns) FROM objects
            WHERE file_id = $1 AND trashed_at IS NULL
            """, fileID
        ) { (object: ObjectPlace($0), progress: SearchProgress($0)) }
        guard let (object: found, progress) = found, progress.hasObject(at: found.position) else { return }
        if progress.hasBytes(at: found.position) {
            try move(
                .contentType, from: ContentType.unknown, to: type, organizationID: found.organizationID,
                bytes: found.size)
        }
        let unknown = SearchPrefix.stored(ofContentType: ContentType.unknown)
        try connection.execute(
            """
            DELETE FROM object_prefixes WHERE organization_id = $1 AND kind = 3 AND prefix IN ($3, $4) AND position = $2
            """, found.organizationID, found.position, unknown[0], unknown[1])
        let known = SearchPrefix.stored(ofContentType: type)
        guard let first = known.first, let last = known.last else { return }
        // A type without a slash is its only prefix.
        try connection.execute(
            """
            INSERT INTO object_prefixes (organization_id, kind, prefix, position) VALUES ($1, 3, $3, $2), ($1, 3, $4, $2)
            ON CONFLICT DO NOTHING
            """, found.organizationID, found.position, first, last)
    }

    /// Returns the object's data for the tables, unless it is in the trash, or one of an earlier version that has no rows yet.
    private func entry(objectID: String) throws -> SearchEntry? {
        let entry = try connection.first(
            "SELECT \(CatalogObject.columns), \(SearchProgress.columns) FROM objects o WHERE o.id = $1", objectID
        ) { (position: $0.int64("position"), object: CatalogObject($0), progress: SearchProgress($0)) }
        guard let (position, object, progress) = entry, object.trashedAt == nil, progress.hasObject(at: position)
        else { return nil }
        var found = SearchEntry(
            object, position: position, tags: try ObjectRecords(connection).tags(position: position))
        found.hasBytes = progress.hasBytes(at: position)
        return found
    }

    private func progress() throws -> SearchProgress {
        try connection.first("SELECT \(SearchProgress.columns)", row: SearchProgress.init) ?? .complete
    }

    func organizations() throws -> [Int64] {
        try connection.query("SELECT id FROM organizations ORDER BY id") { $0.int64("id") }
    }

    /// Returns the position from which on all objects have rows; `nil` = all have.
    func upgraded() throws -> Int64? {
        try connection.first("SELECT position FROM search_upgrade") { $0.int64("position") }
    }

    /// Returns the range of positions of objects that were created in an interval, in microseconds.
    func positions(createdIn interval: Range<Int64>, scope: Int64?) throws -> PositionBounds {
        guard !interval.isEmpty else { return .none }
        let (first, last) = (interval.lowerBound / SearchSchema.slot, (interval.upperBound - 1) / SearchSchema.slot)
        let (firstDay, lastDay) = (interval.lowerBound / SearchSchema.day, (interval.upperBound - 1) / SearchSchema.day)
        let slotsOfADay = SearchSchema.day / SearchSchema.slot
        if firstDay == lastDay { return try positions(span: SearchSchema.slot, first...last, scope) }
        // The first and the last day by slots, the days in between as a whole.
        var bounds = try positions(span: SearchSchema.slot, first...((firstDay + 1) * slotsOfADay - 1), scope)
        bounds = bounds.hull(try positions(span: SearchSchema.slot, (lastDay * slotsOfADay)...last, scope))
        guard firstDay + 1 < lastDay else { return bounds }
        return bounds.hull(try positions(span: SearchSchema.day, (firstDay + 1)...(lastDay - 1), scope))
    }

    private func positions(span: Int64, _ starts: ClosedRange<Int64>, _ scope: Int64?) throws -> PositionBounds {
        let organizations = scope == nil ? "IN (SELECT id FROM organizations)" : "= $4"
        let bounds = try connection.query(
            """
            SELECT min(first_position) AS first, max(last_position) AS last FROM object_times
            WHERE span = $1 AND start BETWEEN $2 AND $3 AND organization_id \(organizations)
            """, arguments: [span, starts.lowerBound, starts.upperBound] + (scope.map { [$0] } ?? [])
        ) { row in row.optionalInt64("first").map { PositionBounds(lowest: $0, highest: row.int64("last")) } }
        return (bounds.first ?? nil) ?? .none
    }
}

extension SearchEntry {
    init(_ object: CatalogObject, position: Int64, tags: [String: String]) {
        self.init(
            position: position, organizationID: object.owner.organizationID, siteID: object.owner.siteID,
            deviceID: object.owner.deviceID,
            recordedAt: object.description.recordedFrom ?? object.times.createdAt, name: object.name(tags: tags).text,
            contentType: object.description.contentType, tags: tags, size: object.content.size)
    }
}

/// The position, the owner and the size of an object.
struct ObjectPlace: Sendable {
    let position: Int64
    let organizationID: Int64
    let size: Int64

    init(_ row: Row) {
        position = row.int64("position")
        organizationID = row.int64("organization_id")
        size = row.int64("size")
    }
}
