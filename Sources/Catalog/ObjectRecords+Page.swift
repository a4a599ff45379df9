import Database
import ObjectFilters

/// The query for one page of the list.
struct PageQuery: Sendable {
    /// The organization whose objects are listed; `nil` = all.
    let scope: Int64?
    /// The filter without ages, see ``ObjectFilter/resolved(at:)``.
    let filter: ObjectFilter
    /// The position after which the page begins; `nil` = at the newest object.
    let after: Int64?
    /// The number of objects; at least 1.
    let size: Int
    /// The number of rows that may be read; the page is short if that is not enough.
    let visits: Int
}

struct ObjectPage: Sendable {
    let objects: [CatalogObject]
    /// The position after which the next page begins; `nil` = this is the last page.
    let next: Int64?
}

extension ObjectRecords {
    /// Returns a page, newest objects first.
    func page(_ query: PageQuery) throws -> ObjectPage {
        let budget = SearchBudget(max(query.visits, query.size))
        let search = try ObjectSearch(query.filter, scope: query.scope, in: connection, budget: budget)
        // One more than the page holds, to know whether there is another page.
        let matches = try search.matches(below: query.after, limit: query.size + 1, row: CatalogObject.init)
        let page = matches.found.prefix(query.size)
        return ObjectPage(
            objects: page.map(\.value), next: matches.found.count > query.size ? page.last?.position : matches.rest)
    }
}
