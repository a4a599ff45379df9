import Basics
import ObjectFilters

/// The data of an object in the search and facet tables.
struct SearchEntry: Sendable, Hashable {
    let position: Int64
    let organizationID: Int64
    let siteID: Int64
    let deviceID: String?
    let createdAt: UnixTime
    let name: String
    let contentType: String
    let tags: [String: String]
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
            Facet(kind: .day, key: "", value: CivilTime(createdAt).date()),
        ]
        if let deviceID { facets.append(Facet(kind: .device, key: "", value: deviceID)) }
        for (key, value) in tags.sorted(by: { $0.key < $1.key }) {
            facets.append(Facet(kind: .tagKey, key: "", value: key))
            if TagCost.hasFacet(value) { facets.append(Facet(kind: .tag, key: key, value: value)) }
        }
        return facets
    }
}

/// The kinds of facets in `object_facets`.
enum FacetKind: Int64, Sendable, CaseIterable {
    case all = 1
    case device = 2
    case site = 3
    /// The day of the creation in UTC, `2026-01-31`.
    case day = 4
    /// The values of one tag.
    case tag = 5
    /// The keys of tags.
    case tagKey = 6
}
