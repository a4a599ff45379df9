import AppProto
import Protobuf
import ProtobufJSON

/// One of the four documents of an archive.
enum LibraryDocument: String, Sendable, Hashable, CaseIterable {
    case books
    case creators
    case tags
    case digests

    /// The name of the file in an archive.
    var fileName: String { "\(rawValue).json" }

    /// Reads the document, and returns an operation that adds its records to a library.
    ///
    /// - Throws: ``ArchiveFailure/document(_:)``, which names the document, the record and the rule.
    func read(_ json: [UInt8]) throws -> @Sendable (inout LibraryContents) -> Void {
        switch self {
        case .books:
            let books: [PlainBook] = try DocumentReader(self, json).records()
            return { $0.books = books }
        case .creators:
            let creators: [PlainCreator] = try DocumentReader(self, json).records()
            return { $0.creators = creators }
        case .tags:
            let tags: [PlainTag] = try DocumentReader(self, json).records()
            return { $0.tags = tags }
        case .digests:
            let digests: [PlainDigest] = try DocumentReader(self, json).records()
            return { $0.digests = digests }
        }
    }
}

/// The JSON of the documents' records.
enum LibraryJSON {
    static let mapping: JSONMapping = {
        guard let schema = try? Schema([.appsArchiveProto]) else {
            preconditionFailure("the descriptor in the program is damaged")
        }
        return JSONMapping(schema: schema)
    }()
}

/// The four documents of a library.
struct LibraryContents: Sendable {
    var books: [PlainBook] = []
    var creators: [PlainCreator] = []
    var tags: [PlainTag] = []
    var digests: [PlainDigest] = []

    /// The number of records in all documents.
    var count: Int { books.count + creators.count + tags.count + digests.count }
}
