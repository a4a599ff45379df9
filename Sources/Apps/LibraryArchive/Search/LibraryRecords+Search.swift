import Basics
import Database

struct FoundDigest {
    let position: DigestPosition
    let content: String
    /// Empty if it belongs to no book.
    let bookName: String
}

/// The position of a digest in the order of a search.
struct DigestPosition: Sendable {
    /// Before all digests.
    static let newest = DigestPosition(updatedAt: .max, id: "")

    let updatedAt: Int64
    let id: String
}

extension LibraryRecords {
    /// Returns the digests of a category after a position, the last changed first.
    ///
    /// - Parameter text: a text that the content has in this form; empty = any.
    func digests(
        _ category: Int64, containing text: String, after position: DigestPosition, limit: Int
    ) throws -> [FoundDigest] {
        try connection.query(
            """
            SELECT d.id AS id, d.updated_at AS updated_at, d.content AS content, coalesce(b.name, '') AS book_name
            FROM library_digests d LEFT JOIN library_books b ON b.library = d.library AND b.id = d.book
            WHERE d.library = $1 AND d.category = $2 AND (d.updated_at, d.id) < ($3, $4)
                AND ($5 = '' OR instr(d.content, $5) > 0)
            ORDER BY d.updated_at DESC, d.id DESC LIMIT $6
            """, library, category, position.updatedAt, position.id, text, limit
        ) { row in
            FoundDigest(
                position: DigestPosition(updatedAt: row.int64("updated_at"), id: row.text("id")),
                content: row.text("content"), bookName: row.text("book_name"))
        }
    }
}
