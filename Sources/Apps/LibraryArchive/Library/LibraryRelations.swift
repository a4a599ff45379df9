import AppProto

/// The relations between the records of an archive, without repetitions. A creator names its books; a book and a tag name their
/// digests.
struct LibraryRelations: Sendable {
    struct Authorship: Sendable, Hashable {
        enum Kind: Int64, Sendable {
            case written = 1
            case translated = 2
        }

        let creator: String
        let book: String
        let kind: Kind
    }

    struct Tagging: Sendable, Hashable {
        let tag: String
        let digest: String
    }

    private(set) var authorships: [Authorship] = []
    /// The book of each digest. A digest belongs to one book: the last that names it.
    private(set) var books: [String: String] = [:]
    private(set) var taggings: [Tagging] = []

    init(_ contents: LibraryContents) {
        for creator in contents.creators {
            let written = creator.writtenBooks.map { Authorship(creator: creator.id, book: $0.id, kind: .written) }
            let translated = creator.translatedBooks.map {
                Authorship(creator: creator.id, book: $0.id, kind: .translated)
            }
            authorships += (written + translated).unique
        }
        for book in contents.books {
            for digest in book.digestIDs { books[digest] = book.id }
        }
        for tag in contents.tags {
            taggings += tag.digestIDs.map { Tagging(tag: tag.id, digest: $0) }.unique
        }
    }
}

extension Array where Element: Hashable {
    fileprivate var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
