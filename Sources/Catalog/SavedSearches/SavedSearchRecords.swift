import Basics
import Database

/// A search that an organization's users share.
struct NamedSearch: Sendable {
    var name: String
    var filter: String
    var order: String
    var columns: [String]
}

/// A saved search as it is stored.
struct StoredSearch: Sendable {
    let id: Int64
    let search: NamedSearch
    let actor: String
    let savedAt: UnixTime
}

/// The SQL of saved searches.
struct SavedSearchRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    static var migration: Migration {
        Migration(
            name: "catalog-saved-searches",
            sql: """
                -- columns: one a line.
                CREATE TABLE saved_searches (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                    name TEXT NOT NULL,
                    filter TEXT NOT NULL,
                    sort_order TEXT NOT NULL,
                    columns TEXT NOT NULL,
                    actor TEXT NOT NULL,
                    saved_at INTEGER NOT NULL,
                    UNIQUE (organization_id, name)
                ) STRICT;
                """)
    }

    private var columns: String { "id, name, filter, sort_order, columns, actor, saved_at" }

    /// Returns all searches of an organization, by name.
    func all(organizationID: Int64) throws -> [StoredSearch] {
        try connection.query(
            "SELECT \(columns) FROM saved_searches WHERE organization_id = $1 ORDER BY name", organizationID,
            row: Self.stored)
    }

    func count(organizationID: Int64) throws -> Int {
        try connection.first(
            "SELECT count(*) AS searches FROM saved_searches WHERE organization_id = $1", organizationID
        ) { $0.int("searches") } ?? 0
    }

    func hasName(_ name: String, organizationID: Int64) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM saved_searches WHERE organization_id = $1 AND name = $2", organizationID, name)
    }

    /// Adds a search, or replaces that of the same name.
    func save(
        _ search: NamedSearch, organizationID: Int64, actor: String, at now: UnixTime
    ) throws -> StoredSearch where C == Connection {
        let rows = try connection.query(
            """
            INSERT INTO saved_searches (organization_id, name, filter, sort_order, columns, actor, saved_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (organization_id, name) DO UPDATE SET
                filter = excluded.filter, sort_order = excluded.sort_order, columns = excluded.columns,
                actor = excluded.actor, saved_at = excluded.saved_at
            RETURNING \(columns)
            """, organizationID, search.name, search.filter, search.order, search.columns.joined(separator: "\n"),
            actor,
            now.microseconds, row: Self.stored)
        return rows[0]
    }

    /// - Returns: whether the organization had the search.
    func delete(id: Int64, organizationID: Int64) throws -> Bool where C == Connection {
        try connection.execute(
            "DELETE FROM saved_searches WHERE id = $1 AND organization_id = $2", id, organizationID) > 0
    }

    private static func stored(_ row: Row) -> StoredSearch {
        StoredSearch(
            id: row.int64("id"),
            search: NamedSearch(
                name: row.text("name"), filter: row.text("filter"), order: row.text("sort_order"),
                columns: row.text("columns").split(separator: "\n").map(String.init)),
            actor: row.text("actor"), savedAt: row.time("saved_at"))
    }
}
