import Database
import ObjectFilters

/// What one page of the list asks for.
struct PageQuery: Sendable {
    /// The organization whose objects are listed; `nil` = every one's.
    let scope: Int64?
    /// Without ages, see ``ObjectFilter/resolved(at:)``.
    let filter: ObjectFilter
    /// Only what stands behind this position; `nil` = from the newest on.
    let after: Int64?
    /// At least 1.
    let size: Int
    /// How many rows the page may look at: it comes back short then.
    let visits: Int
}

struct ObjectPage: Sendable {
    let objects: [CatalogObject]
    /// The position after which the next page begins; `nil` = this is the last page.
    let next: Int64?
}

extension ObjectRecords {
    /// Newest first.
    func page(_ query: PageQuery) throws -> ObjectPage {
        let budget = SearchBudget(max(query.visits, query.size))
        let search = try ObjectSearch(query.filter, scope: query.scope, in: connection, budget: budget)
        // One more than the page has, to see whether there is another one.
        let matches = try search.matches(below: query.after, limit: query.size + 1, row: Self.object)
        let page = matches.found.prefix(query.size)
        return ObjectPage(
            objects: page.map(\.value), next: matches.found.count > query.size ? page.last?.position : matches.rest)
    }
}
