import Basics
import ObjectFilters

/// The data of an object in the search and facet tables.
struct SearchEntry: Sendable, Hashable {
    let position: Int64
    let organizationID: Int64
    let siteID: Int64
    let deviceID: String?
    /// The beginning of the recording, or of the upload if that is unknown.
    let recordedAt: UnixTime
    let name: String
    let contentType: String
    let tags: [String: String]
    /// The size of the object in bytes.
    let size: Int64
    /// Whether the object is one in the sums of bytes, see ``FacetBytesUpgrade``.
    var hasBytes = true
}

extension SearchEntry {
    /// A row of `object_prefixes`.
    struct Prefix: Hashable {
        let kind: SearchPrefix.Kind
        let text: String
    }

    /// A row of `object_facets`.
    struct Facet: Hashable {
        let kind: FacetKind
        /// The key of the tag; empty for other kinds.
        let key: String
        let value: String
    }

    var prefixes: [Prefix] {
        var prefixes = SearchPrefix.stored(of: name).map { Prefix(kind: .name, text: $0) }
        prefixes += SearchPrefix.stored(ofContentType: contentType).map { Prefix(kind: .contentType, text: $0) }
        var labels: Set<String> = []
        if let deviceID { labels.formUnion(SearchPrefix.stored(of: deviceID)) }
        for value in tags.values { labels.formUnion(SearchPrefix.stored(of: value)) }
        prefixes += labels.map { Prefix(kind: .label, text: $0) }
        return prefixes
    }

    var facets: [Facet] {
        var facets = [
            Facet(kind: .all, key: "", value: ""), Facet(kind: .site, key: "", value: String(siteID)),
            Facet(kind: .recorded, key: "", value: QuarterHour.text(of: recordedAt)),
        ]
        if let deviceID { facets.append(Facet(kind: .device, key: "", value: deviceID)) }
        for (key, value) in tags.sorted(by: { $0.key < $1.key }) {
            facets.append(Facet(kind: .tagKey, key: "", value: key))
            if TagCost.hasFacet(value) { facets.append(Facet(kind: .tag, key: key, value: value)) }
        }
        if hasBytes { facets.append(typeFacet) }
        return facets
    }
}

extension SearchEntry {
    /// The row of the content type, which came with the sums of bytes.
    var typeFacet: Facet { Facet(kind: .contentType, key: "", value: contentType) }
}

/// The kinds of facets in `object_facets`.
enum FacetKind: Int64, Sendable, CaseIterable {
    case all = 1
    case device = 2
    case site = 3
    /// The values of one tag.
    case tag = 5
    /// The keys of tags.
    case tagKey = 6
    /// The quarter hours of the recording time, see ``QuarterHour``; their sums are days.
    case recorded = 7
    case contentType = 8
}

/// The prefixes of words in `object_prefixes`.
///
/// Prefixes of certain lengths are stored for each word, and the whole word up to the longest length. A search for any other prefix
/// reads the rows of the next shorter one and compares them.
enum SearchPrefix {
    enum Kind: Int64, Sendable {
        case name = 1
        /// The device and the values of tags.
        case label = 2
        case contentType = 3
    }

    /// The lengths in characters (Unicode scalars), ascending.
    static let lengths = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64]

    /// Returns the stored prefixes of a word, in lower case and without duplicates.
    static func stored(of word: String) -> [String] {
        let lowered = word.lowercasedByScalar
        let scalars = lowered.unicodeScalars
        var stored: [String] = []
        var (end, count) = (scalars.startIndex, 0)
        for length in lengths where end < scalars.endIndex {
            end = scalars.index(end, offsetBy: length - count, limitedBy: scalars.endIndex) ?? scalars.endIndex
            count = length
            stored.append(String(lowered[..<end]))
        }
        return stored
    }

    /// Returns the stored prefixes of a content type: `video/` and `video/mp4`, in their original case.
    static func stored(ofContentType type: String) -> [String] {
        guard !type.isEmpty else { return [] }
        guard let range = range(of: type), range != type else { return [type] }
        return [range, type]
    }

    /// Returns the stored prefix that all matching words have; `nil` if the pattern does not tell their beginning.
    static func stored(for pattern: ObjectFilter.Pattern) -> String? {
        switch pattern {
        case .text(let text): cut(text.lowercasedByScalar, to: lengths.last ?? 0)
        case .prefix(let prefix): stored(forPrefix: prefix)
        case .pieces(let pieces): pieces.first.flatMap { $0.isEmpty ? nil : stored(forPrefix: $0) }
        case .suffix, .part: nil
        }
    }

    /// Returns the stored prefix that all words with a prefix have.
    static func stored(forPrefix prefix: String) -> String {
        let lowered = prefix.lowercasedByScalar
        let count = lowered.unicodeScalars.count
        return cut(lowered, to: lengths.last { $0 <= count } ?? 0)
    }

    /// Returns the stored prefix of the matching content types; `nil` if the pattern does not tell the part before the slash.
    static func stored(forContentType pattern: ObjectFilter.Pattern) -> String? {
        switch pattern {
        case .text(let text): text
        case .prefix(let prefix): range(of: prefix)
        case .pieces(let pieces): pieces.first.flatMap(range)
        case .suffix, .part: nil
        }
    }

    /// Returns `video/` for `video/mp4`.
    private static func range(of type: String) -> String? {
        type.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(type[...$0]) }
    }

    private static func cut(_ text: String, to count: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
    }
}
