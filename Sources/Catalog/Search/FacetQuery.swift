import GatewayFormats
import ObjectFilters
import RPC

/// The facets and values that a GetObjectFacets request wants.
struct FacetQuery: Sendable {
    private static let mostValues: Int32 = 1000
    private static let longestPart = 256

    let filter: RequestedFilter
    /// The name of the only facet; empty = all.
    let facet: String
    /// The text that values contain, in lower case; empty = all values.
    let part: String
    let limit: Int

    /// - Throws: INVALID_ARGUMENT that names the field and the rule.
    init(filter: RequestedFilter, facet: String = "", part: String = "", limit: Int32 = 0) throws(RPCError) {
        guard (0...Self.mostValues).contains(limit) else {
            throw .invalidArgument("value_limit must be 0 to \(Self.mostValues)")
        }
        guard part.utf8.count <= Self.longestPart else {
            throw .invalidArgument("value_contains must be at most \(Self.longestPart) bytes")
        }
        self.filter = filter
        self.facet = facet
        // The answer with all facets is bounded by the number of their values.
        self.part = facet.isEmpty ? "" : part.lowercasedByScalar
        self.limit = facet.isEmpty || limit == 0 ? ObjectFacets.mostValues : Int(limit)
        guard facet.isEmpty || kind != nil else {
            throw .invalidArgument("facet must be device, site, recorded or raw_tags.KEY")
        }
    }

    /// The kind of the only facet, and the key of its tag; `nil` = all facets.
    var kind: (kind: FacetKind, key: String)? {
        switch facet {
        case "device": (.device, "")
        case "site": (.site, "")
        case "recorded": (.recorded, "")
        case let name where name.hasPrefix("raw_tags.") && name != "raw_tags.": (.tag, String(name.dropFirst(9)))
        default: nil
        }
    }

    func includes(_ other: ObjectFacets.Facet) -> Bool {
        guard let kind else { return true }
        return kind.kind == other.kind && kind.key == other.key
    }
}

extension ObjectFacets.Facet {
    /// The beginning of the term of a filter that requires a value.
    var name: String {
        switch kind {
        case .device: "device"
        case .site: "site"
        case .recorded: "recorded"
        case .tag: "raw_tags.\(key)"
        case .all, .tagKey, .contentType: ""
        }
    }
}
