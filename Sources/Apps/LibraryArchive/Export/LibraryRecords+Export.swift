import AppProto
import Basics
import Database

extension LibraryRecords {
    /// Returns the whole library, each document with the oldest records first.
    func contents() throws -> LibraryContents {
        var (books, creators) = (try books(), try creators())
        var (tags, digests) = (try tags(), try digests())
        try relate(&creators, &books)
        try relate(&digests, &tags, &books)
        return LibraryContents(
            books: books.records, creators: creators.records, tags: tags.records, digests: digests.records)
    }

    /// Records with their positions by id.
    private struct Indexed<Record> {
        var records: [Record]
        let positions: [String: Int]

        init(_ records: [Record], id: (Record) -> String) {
            self.records = records
            positions = Dictionary(
                records.enumerated().map { (id($0.element), $0.offset) }, uniquingKeysWith: { first, _ in first })
        }

        func find(_ id: String) -> Record? { positions[id].map { records[$0] } }

        mutating func change(_ id: String, _ body: (inout Record) -> Void) {
            if let position = positions[id] { body(&records[position]) }
        }
    }

    private func books() throws -> Indexed<PlainBook> {
        let books = try connection.query(
            """
            SELECT id, server_id, created_at, updated_at, isbn13, isbn10, name, locale_name, summary, publisher,
                image_large, image_medium
            FROM library_books WHERE library = $1 ORDER BY created_at, id
            """, library
        ) { row in
            PlainBook(
                id: row.text("id"), serverID: row.text("server_id"), createdAt: Self.text(row.time("created_at")),
                updatedAt: Self.text(row.time("updated_at")), isbn13: row.text("isbn13"), isbn10: row.text("isbn10"),
                name: row.text("name"), localeName: row.text("locale_name"), summary: row.text("summary"),
                publisher: row.text("publisher"), imageLarge: row.text("image_large"),
                imageMedium: row.text("image_medium"))
        }
        return Indexed(books, id: \.id)
    }

    private func creators() throws -> Indexed<PlainCreator> {
        let creators = try connection.query(
            """
            SELECT id, server_id, created_at, updated_at, name, locale_name
            FROM library_creators WHERE library = $1 ORDER BY created_at, id
            """, library
        ) { row in
            PlainCreator(
                id: row.text("id"), serverID: row.text("server_id"), createdAt: Self.text(row.time("created_at")),
                updatedAt: Self.text(row.time("updated_at")), name: row.text("name"),
                localeName: row.text("locale_name"))
        }
        return Indexed(creators, id: \.id)
    }

    private func tags() throws -> Indexed<PlainTag> {
        let tags = try connection.query(
            """
            SELECT id, server_id, created_at, updated_at, name, color
            FROM library_tags WHERE library = $1 ORDER BY created_at, id
            """, library
        ) { row in
            PlainTag(
                id: row.text("id"), serverID: row.text("server_id"), name: row.text("name"), color: row.text("color"),
                createdAt: Self.text(row.time("created_at")), updatedAt: Self.text(row.time("updated_at")))
        }
        return Indexed(tags, id: \.id)
    }

    /// Returns the digests; of their books only the ids are set.
    private func digests() throws -> Indexed<PlainDigest> {
        let digests = try connection.query(
            """
            SELECT id, server_id, created_at, updated_at, content, page_index, category, book
            FROM library_digests WHERE library = $1 ORDER BY created_at, id
            """, library
        ) { row in
            PlainDigest(
                id: row.text("id"), serverID: row.text("server_id"), createdAt: Self.text(row.time("created_at")),
                updatedAt: Self.text(row.time("updated_at")), content: row.text("content"),
                pageIndex: Int32(truncatingIfNeeded: row.int64("page_index")),
                category: Int32(truncatingIfNeeded: row.int64("category")),
                book: row.optionalText("book").map { PlainBookReference(id: $0) })
        }
        return Indexed(digests, id: \.id)
    }

    private func relate(_ creators: inout Indexed<PlainCreator>, _ books: inout Indexed<PlainBook>) throws {
        let authorships = try connection.query(
            "SELECT creator, book, kind FROM library_authorship WHERE library = $1 ORDER BY creator, book", library
        ) { (creator: $0.text("creator"), book: $0.text("book"), kind: $0.int64("kind")) }
        for each in authorships {
            guard let book = books.find(each.book), let name = creators.find(each.creator)?.name else { continue }
            let isWritten = each.kind == LibraryRelations.Authorship.Kind.written.rawValue
            creators.change(each.creator) {
                if isWritten {
                    $0.writtenBooks.append(book.reference)
                } else {
                    $0.translatedBooks.append(book.reference)
                }
            }
            books.change(each.book) { if isWritten { $0.authors.append(name) } else { $0.translators.append(name) } }
        }
    }

    private func relate(
        _ digests: inout Indexed<PlainDigest>, _ tags: inout Indexed<PlainTag>, _ books: inout Indexed<PlainBook>
    ) throws {
        for digest in digests.records {
            guard let book = digest.book else { continue }
            let reference = books.find(book.id)?.reference
            digests.change(digest.id) { $0.book = reference }
            books.change(book.id) { $0.digestIDs.append(digest.id) }
        }
        let taggings = try connection.query(
            "SELECT tag, digest FROM library_tagging WHERE library = $1 ORDER BY tag, digest", library
        ) { (tag: $0.text("tag"), digest: $0.text("digest")) }
        for each in taggings {
            guard let tag = tags.find(each.tag) else { continue }
            digests.change(each.digest) {
                $0.tags.append(PlainTagReference(id: tag.id, name: tag.name, color: tag.color))
            }
            tags.change(each.tag) { $0.digestIDs.append(each.digest) }
        }
    }

    /// Returns a time with milliseconds, e.g. `2019-06-09T14:51:29.574Z`.
    private static func text(_ time: UnixTime) -> String {
        let milliseconds = Int((time.microseconds - time.seconds * 1_000_000) / 1000)
        let civil = CivilTime(time)
        return "\(civil.date())T\(civil.clock()).\(milliseconds.padded(to: 3))Z"
    }
}

extension PlainBook {
    fileprivate var reference: PlainBookReference {
        PlainBookReference(id: id, isbn13: isbn13, isbn10: isbn10, bookName: name)
    }
}
