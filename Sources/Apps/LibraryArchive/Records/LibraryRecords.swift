import AppProto
import Basics
import Database

/// The library of one person. Every statement names the owner, so that nobody reaches that of others.
struct LibraryRecords {
    let connection: Connection
    let owner: Int64

    init(_ connection: Connection, owner: Int64) {
        self.connection = connection
        self.owner = owner
    }

    // MARK: Import

    /// Stores the records of an archive: each replaces the one with its id. Relations to records that nobody has are dropped.
    ///
    /// - Throws: ``ArchiveFailure/archive(_:)`` if the library would exceed its limits.
    func store(_ contents: LibraryContents, _ relations: LibraryRelations) throws {
        for book in contents.books { try store(book) }
        for creator in contents.creators { try store(creator) }
        for tag in contents.tags { try store(tag) }
        for digest in contents.digests { try store(digest) }
        try store(relations, of: contents)
        try checkLimits()
    }

    private func store(_ book: PlainBook) throws {
        try connection.execute(
            """
            INSERT INTO library_books (owner, id, server_id, created_at, updated_at, isbn13, isbn10, name, locale_name,
                summary, publisher, image_large, image_medium, text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (owner, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, isbn13 = $6,
                isbn10 = $7, name = $8, locale_name = $9, summary = $10, publisher = $11, image_large = $12,
                image_medium = $13, text_size = $14
            """, owner, book.id, book.serverID, try Self.time(book.createdAt), try Self.time(book.updatedAt),
            book.isbn13, book.isbn10, book.name, book.localeName, book.summary, book.publisher, book.imageLarge,
            book.imageMedium, book.textSize)
    }

    private func store(_ creator: PlainCreator) throws {
        try connection.execute(
            """
            INSERT INTO library_creators (owner, id, server_id, created_at, updated_at, name, locale_name, text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (owner, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, name = $6,
                locale_name = $7, text_size = $8
            """, owner, creator.id, creator.serverID, try Self.time(creator.createdAt),
            try Self.time(creator.updatedAt), creator.name, creator.localeName, creator.textSize)
    }

    private func store(_ tag: PlainTag) throws {
        try connection.execute(
            """
            INSERT INTO library_tags (owner, id, server_id, created_at, updated_at, name, color, text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (owner, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, name = $6,
                color = $7, text_size = $8
            """, owner, tag.id, tag.serverID, try Self.time(tag.createdAt), try Self.time(tag.updatedAt), tag.name,
            tag.color, tag.textSize)
    }

    private func store(_ digest: PlainDigest) throws {
        try connection.execute(
            """
            INSERT INTO library_digests (owner, id, server_id, created_at, updated_at, content, page_index, category,
                text_size)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (owner, id) DO UPDATE SET server_id = $3, created_at = $4, updated_at = $5, content = $6,
                page_index = $7, category = $8, text_size = $9
            """, owner, digest.id, digest.serverID, try Self.time(digest.createdAt), try Self.time(digest.updatedAt),
            digest.content, Int64(digest.pageIndex), Int64(digest.category), digest.textSize)
    }

    private func store(_ relations: LibraryRelations, of contents: LibraryContents) throws {
        for creator in contents.creators {
            try connection.execute(
                "DELETE FROM library_authorship WHERE owner = $1 AND creator = $2", owner, creator.id)
        }
        for each in relations.authorships {
            try connection.execute(
                """
                INSERT OR IGNORE INTO library_authorship (owner, creator, book, kind)
                SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM library_books WHERE owner = $1 AND id = $3)
                """, owner, each.creator, each.book, each.kind.rawValue)
        }
        for book in contents.books {
            try connection.execute(
                "UPDATE library_digests SET book = NULL WHERE owner = $1 AND book = $2", owner, book.id)
        }
        for (digest, book) in relations.books {
            try connection.execute(
                "UPDATE library_digests SET book = $3 WHERE owner = $1 AND id = $2", owner, digest, book)
        }
        for tag in contents.tags {
            try connection.execute("DELETE FROM library_tagging WHERE owner = $1 AND tag = $2", owner, tag.id)
        }
        for each in relations.taggings {
            try connection.execute(
                """
                INSERT OR IGNORE INTO library_tagging (owner, tag, digest)
                SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM library_digests WHERE owner = $1 AND id = $3)
                """, owner, each.tag, each.digest)
        }
    }

    private func checkLimits() throws {
        var size = LibrarySize()
        for table in ["library_books", "library_creators", "library_tags", "library_digests"] {
            let sums = try sums(
                "SELECT count(*) AS rows, coalesce(sum(text_size), 0) AS texts FROM \(table) WHERE owner = $1")
            size.records += sums.count
            size.texts += sums.texts
        }
        // Documents repeat what identifies a book, a tag or a creator at each record that is related to it.
        let authorships = try sums(
            """
            SELECT count(*) AS rows, coalesce(sum(c.text_size + length(b.id || b.isbn13 || b.isbn10)
                + length(CAST(b.name AS BLOB))), 0) AS texts
            FROM library_authorship a JOIN library_books b ON b.owner = a.owner AND b.id = a.book
                JOIN library_creators c ON c.owner = a.owner AND c.id = a.creator
            WHERE a.owner = $1
            """)
        let taggings = try sums(
            """
            SELECT count(*) AS rows, coalesce(sum(t.text_size), 0) AS texts
            FROM library_tagging g JOIN library_tags t ON t.owner = g.owner AND t.id = g.tag WHERE g.owner = $1
            """)
        let digests = try sums(
            """
            SELECT count(*) AS rows, coalesce(sum(length(b.id || b.isbn13 || b.isbn10)
                + length(CAST(b.name AS BLOB))), 0) AS texts
            FROM library_digests d JOIN library_books b ON b.owner = d.owner AND b.id = d.book WHERE d.owner = $1
            """)
        size.relations = authorships.count + taggings.count + digests.count
        size.repeatedTexts = authorships.texts + taggings.texts + digests.texts
        try size.check()
    }

    private func sums(_ statement: String) throws -> (count: Int, texts: Int64) {
        try connection.first(statement, owner) { (count: $0.int("rows"), texts: $0.int64("texts")) } ?? (0, 0)
    }

    private static func time(_ text: String) throws(ArchiveFailure) -> Int64 {
        guard let time = RFC3339.parse(text) else { throw .document("\(text) must be a time of RFC 3339") }
        return time.time.microseconds
    }
}
