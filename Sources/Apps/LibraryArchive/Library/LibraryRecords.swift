import AppProto
import Basics
import Database

/// The records of one library. Every statement names it, so that nobody reaches that of others.
struct LibraryRecords<C: ReadConnection> {
    let connection: C
    /// The id in ``LibraryGenerations``.
    let library: Int64

    init(_ connection: C, library: Int64) {
        self.connection = connection
        self.library = library
    }

    // MARK: Import. A record replaces the one with its id.

    func store(_ book: PlainBook) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO library_books (library, id, server_id, created_at, updated_at, isbn13, isbn10, name, locale_name,
                summary, publisher, image_large, image_medium, text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (library, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, isbn13 = $6,
                isbn10 = $7, name = $8, locale_name = $9, summary = $10, publisher = $11, image_large = $12,
                image_medium = $13, text_size = $14
            """, library, book.id, book.serverID, try Self.time(book.createdAt), try Self.time(book.updatedAt),
            book.isbn13, book.isbn10, book.name, book.localeName, book.summary, book.publisher, book.imageLarge,
            book.imageMedium, book.textSize)
    }

    func store(_ creator: PlainCreator) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO library_creators (library, id, server_id, created_at, updated_at, name, locale_name, text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (library, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, name = $6,
                locale_name = $7, text_size = $8
            """, library, creator.id, creator.serverID, try Self.time(creator.createdAt),
            try Self.time(creator.updatedAt), creator.name, creator.localeName, creator.textSize)
    }

    func store(_ tag: PlainTag) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO library_tags (library, id, server_id, created_at, updated_at, name, color, text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (library, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, name = $6,
                color = $7, text_size = $8
            """, library, tag.id, tag.serverID, try Self.time(tag.createdAt), try Self.time(tag.updatedAt), tag.name,
            tag.color, tag.textSize)
    }

    func store(_ digest: PlainDigest) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO library_digests (library, id, server_id, created_at, updated_at, content, page_index, category,
                text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (library, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, content = $6,
                page_index = $7, category = $8, text_size = $9
            """, library, digest.id, digest.serverID, try Self.time(digest.createdAt), try Self.time(digest.updatedAt),
            digest.content, Int64(digest.pageIndex), Int64(digest.category), digest.textSize)
    }

    /// Stores an authorship if the library has the book.
    func store(_ authorship: LibraryRelations.Authorship) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO library_authorship (library, creator, book, kind)
            SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM library_books WHERE library = $1 AND id = $3)
            ON CONFLICT DO NOTHING
            """, library, authorship.creator, authorship.book, authorship.kind.rawValue)
    }

    /// Stores a tagging if the library has the digest.
    func store(_ tagging: LibraryRelations.Tagging) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO library_tagging (library, tag, digest)
            SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM library_digests WHERE library = $1 AND id = $3)
            ON CONFLICT DO NOTHING
            """, library, tagging.tag, tagging.digest)
    }

    /// Sets the book of a digest.
    func set(book: String?, of digest: String) throws where C == Connection {
        try connection.execute(
            "UPDATE library_digests SET book = $3 WHERE library = $1 AND id = $2", library, digest, book)
    }

    /// - Throws: ``ArchiveFailure/archive(_:)`` if the library exceeds its limits.
    func checkLimits() throws {
        var size = LibrarySize()
        for table in LibraryTable.allCases {
            let sums = try sums("sum(text_size)", "\(table.rawValue) WHERE library = $1")
            size.records += sums.count
            size.texts += sums.texts
        }
        // Documents repeat what identifies a book, a tag or a creator at each record that is related to it.
        // `length` would count the characters before a zero.
        let book = "octet_length(b.id || b.isbn13 || b.isbn10 || b.name)"
        let authorships = try sums(
            "sum(\(book) + c.text_size)",
            """
            library_authorship a JOIN library_books b ON b.library = a.library AND b.id = a.book
                JOIN library_creators c ON c.library = a.library AND c.id = a.creator
            WHERE a.library = $1
            """)
        let taggings = try sums(
            "sum(t.text_size)",
            "library_tagging g JOIN library_tags t ON t.library = g.library AND t.id = g.tag WHERE g.library = $1")
        let digests = try sums(
            "sum(\(book))",
            "library_digests d JOIN library_books b ON b.library = d.library AND b.id = d.book WHERE d.library = $1")
        size.relations = authorships.count + taggings.count + digests.count
        size.repeatedTexts = authorships.texts + taggings.texts + digests.texts
        try size.check()
    }

    /// Returns the number of rows of `tables`, and the sum of their texts' bytes.
    private func sums(_ texts: String, _ tables: String) throws -> (count: Int, texts: Int64) {
        try connection.first(
            "SELECT count(*) AS rows, coalesce(\(texts), 0) AS texts FROM \(tables)", library
        ) { (count: $0.int("rows"), texts: $0.int64("texts")) } ?? (0, 0)
    }

    private static func time(_ text: String) throws(ArchiveFailure) -> Int64 {
        guard let time = RFC3339.parse(text) else { throw .document("\(text) must be a time of RFC 3339") }
        return time.time.microseconds
    }
}

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
