package import AppProto
import Basics
import Protobuf

/// A record of a document.
protocol ArchivedRecord: Message {
    var id: String { get }
    var createdAt: String { get }
    var updatedAt: String { get }
    /// The texts that have the common limit, by their names in JSON.
    var shortTexts: [(name: String, text: String)] { get }
    /// The texts that have the larger limit, by their names in JSON.
    var longTexts: [(name: String, text: String)] { get }
    /// The number of records to which it is related.
    var relationCount: Int { get }

    /// The rule that the record's own values violate; `nil` = none.
    var ownProblem: String? { get }

    /// Removes what follows from other records.
    mutating func dropDerived()
}

extension ArchivedRecord {
    var longTexts: [(name: String, text: String)] { [] }

    var ownProblem: String? { nil }

    /// The rule that the record violates; `nil` = none.
    var problem: String? {
        guard LibraryRules.isID(id) else { return "id must be a UUID" }
        for (name, text) in [("createdAt", createdAt), ("updatedAt", updatedAt)] where RFC3339.parse(text) == nil {
            return "\(name) must be a time of RFC 3339 such as 2019-06-09T14:51:29.574Z"
        }
        if let long = shortTexts.first(where: { $0.text.utf8.count > LibraryLimits.shortText }) {
            return "\(long.name) must be at most \(LibraryLimits.shortText) bytes"
        }
        if let long = longTexts.first(where: { $0.text.utf8.count > LibraryLimits.longText }) {
            return "\(long.name) must be at most \(LibraryLimits.longText) bytes"
        }
        return ownProblem
    }

    /// The size of its texts, in bytes.
    var textSize: Int64 { Int64((shortTexts + longTexts).reduce(id.utf8.count) { $0 + $1.text.utf8.count }) }
}

extension PlainBook: ArchivedRecord {
    var shortTexts: [(name: String, text: String)] {
        [
            ("serverId", serverID), ("isbn13", isbn13), ("isbn10", isbn10), ("name", name), ("localeName", localeName),
            ("publisher", publisher), ("imageLarge", imageLarge), ("imageMedium", imageMedium),
        ]
    }

    var longTexts: [(name: String, text: String)] { [("summary", summary)] }

    var relationCount: Int { digestIDs.count }

    mutating func dropDerived() { (authors, translators) = ([], []) }
}

extension PlainCreator: ArchivedRecord {
    var shortTexts: [(name: String, text: String)] {
        [("serverId", serverID), ("name", name), ("localeName", localeName)]
    }

    var relationCount: Int { writtenBooks.count + translatedBooks.count }

    mutating func dropDerived() {
        writtenBooks = writtenBooks.map { PlainBookReference(id: $0.id) }
        translatedBooks = translatedBooks.map { PlainBookReference(id: $0.id) }
    }
}

extension PlainTag: ArchivedRecord {
    var shortTexts: [(name: String, text: String)] { [("serverId", serverID), ("name", name), ("color", color)] }

    var relationCount: Int { digestIDs.count }

    mutating func dropDerived() {}
}

extension PlainDigest: ArchivedRecord {
    var shortTexts: [(name: String, text: String)] { [("serverId", serverID)] }

    var longTexts: [(name: String, text: String)] { [("content", content)] }

    var relationCount: Int { 0 }

    var ownProblem: String? {
        (0...1).contains(category) ? nil : "category must be 0 (a sentence) or 1 (a paragraph)"
    }

    mutating func dropDerived() { (book, tags) = (nil, []) }
}
