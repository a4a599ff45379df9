import AppProto

/// The four documents of a library.
struct LibraryContents: Sendable {
    var books: [PlainBook] = []
    var creators: [PlainCreator] = []
    var tags: [PlainTag] = []
    var digests: [PlainDigest] = []

    /// The number of records in all documents.
    var count: Int { books.count + creators.count + tags.count + digests.count }
}
