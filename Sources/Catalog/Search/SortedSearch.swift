import Database
import ObjectFilters

/// A search for objects in an order other than the list's own.
///
/// If few objects can match, all of them are read and sorted. Otherwise the order's own index is followed and non-matching objects
/// are skipped, up to a limit, after which the page is short.
struct SortedSearch {
    /// The limit of objects that are read to be sorted, and of rows that are read for one page.
    static let mostObjects = 10_000

    struct Page {
        var found: PageRows<PlacedRow>
        /// The place after which the next page begins; `nil` = this is the last page.
        var next: OrderPlace?
    }

    let connection: ReadConnection
    let order: ObjectOrder
    let filter: ResolvedFilter
    let scope: Int64?

    func page(after: OrderPlace?, limit: PageLimit) throws -> Page {
        var walk = try walk(after: after)
        var page = Page(found: PageRows(limit))
        while case let rows = try walk.next(limit.statementRows - page.found.rows.count), !rows.isEmpty {
            for placed in rows {
                guard page.found.admits(placed.row.size) else {
                    page.next = page.found.rows.last?.place
                    return page
                }
                page.found.append(placed, bytes: placed.row.size)
            }
        }
        page.next = walk.rest
        return page
    }

    /// Returns the matches after a place, in the order.
    func walk(after: OrderPlace?) throws -> SortedWalk {
        try SortedWalk(self, after: after, sorted: try sorted(after: after))
    }

    fileprivate func isBefore(_ left: OrderPlace, _ right: OrderPlace) -> Bool {
        order.isDescending ? right.precedes(left) : left.precedes(right)
    }

    /// Returns the places of all matches, sorted; `nil` if more may match than are read.
    private func sorted(after: OrderPlace?) throws -> [OrderPlace]? {
        guard filter.root != ResolvedFilter.everything.hidingTrash.root else { return nil }
        let search = try ObjectSearch(
            filter, scope: scope, in: connection, budget: SearchBudget(Self.mostObjects))
        let matches = try search.matches(below: nil, limit: Self.mostObjects, row: order.value)
        guard matches.rest == nil else { return nil }
        return matches.found.map { OrderPlace(value: $0.value, position: $0.position) }
            .filter { place in after.map { isBefore($0, place) } ?? true }
            .sorted(by: isBefore)
    }
}

/// The matches of a ``SortedSearch``, read some at a time.
struct SortedWalk: ObjectWalk {
    private static let chunk = 128

    private let search: SortedSearch
    private let rows: MatchingRows
    private let organizations: [Int64]
    /// The places of the matches that were not read yet; `nil` = the index is followed.
    private var sorted: ArraySlice<OrderPlace>?
    private var last: OrderPlace?
    private var visited = 0
    private var isAtEnd = false

    fileprivate init(_ search: SortedSearch, after: OrderPlace?, sorted: [OrderPlace]?) throws {
        self.search = search
        self.sorted = sorted?[...]
        last = after
        organizations = try search.scope.map { [$0] } ?? SearchRecords(search.connection).organizations()
        rows = MatchingRows(sorted == nil ? search.filter : .everything, scope: search.scope, in: search.connection)
    }

    var rest: OrderPlace? { isAtEnd ? nil : last }

    mutating func next(_ count: Int) throws -> [PlacedRow] {
        while let places = try places(count) {
            guard let last = places.last else {
                isAtEnd = true
                return []
            }
            self.last = last
            let matches = try rows.matches(at: places.map(\.position), row: ObjectRow.init)
            let found = Dictionary(uniqueKeysWithValues: matches.map { ($0.position, $0.value) })
            let placed = places.compactMap { place in found[place.position].map { PlacedRow(place: place, row: $0) } }
            if !placed.isEmpty { return placed }
        }
        return []
    }

    /// Returns the next places, none at the end; `nil` = the limit of one page is reached.
    private mutating func places(_ count: Int) throws -> [OrderPlace]? {
        if let rest = sorted {
            let places = rest.prefix(max(1, min(count, Self.chunk)))
            sorted = rest.dropFirst(places.count)
            return Array(places)
        }
        guard visited < SortedSearch.mostObjects else { return nil }
        var places = try organizations.flatMap { try self.places(of: $0, after: last) }
        if organizations.count > 1 { places = Array(places.sorted(by: search.isBefore).prefix(Self.chunk)) }
        visited += places.count
        return places
    }

    /// Returns the next places of one organization's objects, from the index.
    private func places(of organization: Int64, after: OrderPlace?) throws -> [OrderPlace] {
        let order = search.order
        let (comparison, direction) = order.isDescending ? ("<", "DESC") : (">", "ASC")
        func places(_ condition: String, _ ordering: String, _ arguments: [(any Bindable)?]) throws -> [OrderPlace] {
            try search.connection.query(
                """
                SELECT position, created_at, recorded_from, size, name FROM objects
                WHERE organization_id = $1 \(condition) ORDER BY \(ordering) LIMIT $2
                """, arguments: [organization, Self.chunk] + arguments
            ) { OrderPlace(value: order.value(of: $0), position: $0.int64("position")) }
        }
        let ordering = "\(order.sql) \(direction), position \(direction)"
        guard let after else { return try places("", ordering, []) }
        let equal = try places(
            "AND \(order.sql) = $3 AND position \(comparison) $4", "position \(direction)",
            [after.value.argument, after.position])
        guard equal.count < Self.chunk else { return equal }
        let rest = try places("AND \(order.sql) \(comparison) $3", ordering, [after.value.argument])
        return Array((equal + rest).prefix(Self.chunk))
    }
}
