import Database

/// The tables of records.
enum LibraryTable: String, Sendable, CaseIterable {
    case books = "library_books"
    case creators = "library_creators"
    case tags = "library_tags"
    case digests = "library_digests"

    /// The columns besides the library and the id.
    fileprivate var columns: String {
        switch self {
        case .books:
            "server_id, created_at, updated_at, isbn13, isbn10, name, locale_name, summary, publisher, image_large, "
                + "image_medium, text_size"
        case .creators: "server_id, created_at, updated_at, name, locale_name, text_size"
        case .tags: "server_id, created_at, updated_at, name, color, text_size"
        case .digests: "server_id, created_at, updated_at, content, page_index, category, book, text_size"
        }
    }
}

extension LibraryRecords {
    /// Returns the ids of records with the sizes of their texts, in the order of ids.
    func ids(_ table: LibraryTable, limit: Int = .max) throws -> [(id: String, size: Int)] {
        try connection.query(
            "SELECT id, text_size FROM \(table.rawValue) WHERE library = $1 ORDER BY id LIMIT $2", library, limit
        ) { (id: $0.text("id"), size: $0.int("text_size")) }
    }

    /// Copies the records of another library with ids from `first` to `last`.
    func copy(_ table: LibraryTable, from other: Int64, _ first: String, through last: String) throws
    where C == Connection {
        try connection.execute(
            """
            INSERT INTO \(table.rawValue) (library, id, \(table.columns))
            SELECT $1, id, \(table.columns) FROM \(table.rawValue) WHERE library = $2 AND id >= $3 AND id <= $4
            """, library, other, first, last)
    }

    /// Removes the records with ids up to `last`.
    func remove(_ table: LibraryTable, through last: String) throws where C == Connection {
        try connection.execute("DELETE FROM \(table.rawValue) WHERE library = $1 AND id <= $2", library, last)
    }

    /// Returns authorships after one, `nil` = from the first on, in the order of their keys.
    func authorships(
        after last: LibraryRelations.Authorship?, limit: Int
    ) throws -> [LibraryRelations.Authorship] {
        try connection.query(
            """
            SELECT creator, book, kind FROM library_authorship
            WHERE library = $1 AND (creator, book, kind) > ($2, $3, $4) ORDER BY creator, book, kind LIMIT $5
            """, library, last?.creator ?? "", last?.book ?? "", last?.kind.rawValue ?? 0, limit
        ) {
            LibraryRelations.Authorship(
                creator: $0.text("creator"), book: $0.text("book"),
                kind: LibraryRelations.Authorship.Kind(rawValue: $0.int64("kind")) ?? .written)
        }
    }

    /// Returns taggings after one, `nil` = from the first on, in the order of their keys.
    func taggings(after last: LibraryRelations.Tagging?, limit: Int) throws -> [LibraryRelations.Tagging] {
        try connection.query(
            """
            SELECT tag, digest FROM library_tagging WHERE library = $1 AND (tag, digest) > ($2, $3)
            ORDER BY tag, digest LIMIT $4
            """, library, last?.tag ?? "", last?.digest ?? "", limit
        ) { LibraryRelations.Tagging(tag: $0.text("tag"), digest: $0.text("digest")) }
    }

    /// Returns the ids of the digests that belong to one of the books.
    func digests(of books: Set<String>) throws -> [String] {
        try connection.query(
            "SELECT id, book FROM library_digests WHERE library = $1 AND book IS NOT NULL ORDER BY id", library
        ) { (id: $0.text("id"), book: $0.text("book")) }.filter { books.contains($0.book) }.map(\.id)
    }
}
