import Database
import ObjectFilters

/// A search for objects in an order other than the list's own.
///
/// If few objects can match, all of them are read and sorted. Otherwise the order's own index is followed and non-matching objects
/// are skipped, up to a limit, after which the page is short.
struct SortedSearch {
    /// The limit of objects that are read to be sorted, and of rows that are read for one page.
    static let mostObjects = 10_000
    private static let chunk = 128

    struct Page {
        var found: PageRows<(place: OrderPlace, row: ObjectRow)>
        /// The place after which the next page begins; `nil` = this is the last page.
        var next: OrderPlace?
    }

    let connection: ReadConnection
    let order: ObjectOrder
    let filter: ResolvedFilter
    let scope: Int64?

    func page(after: OrderPlace?, limit: PageLimit) throws -> Page {
        try sorted(after: after, limit) ?? followingTheIndex(after: after, limit)
    }

    private func isBefore(_ left: OrderPlace, _ right: OrderPlace) -> Bool {
        order.isDescending ? right.precedes(left) : left.precedes(right)
    }

    /// Returns all matches, sorted; `nil` if more may match than are read.
    private func sorted(after: OrderPlace?, _ limit: PageLimit) throws -> Page? {
        guard filter.root != ResolvedFilter.everything.hidingTrash.root else { return nil }
        let search = try ObjectSearch(
            filter, scope: scope, in: connection, budget: SearchBudget(Self.mostObjects))
        let matches = try search.matches(below: nil, limit: Self.mostObjects, row: order.value)
        guard matches.rest == nil else { return nil }
        let places = matches.found.map { OrderPlace(value: $0.value, position: $0.position) }
            .filter { place in after.map { isBefore($0, place) } ?? true }
            .sorted(by: isBefore)
        var page = Page(found: PageRows(limit))
        let rows = MatchingRows(.everything, scope: scope, in: connection)
        var start = 0
        while start < places.count {
            let wanted = max(1, min(limit.statementRows - page.found.rows.count, Self.chunk))
            let end = min(start + wanted, places.count)
            guard try add(places[start..<end], rows, to: &page) else { return page }
            start = end
        }
        return page
    }

    /// Adds the objects at the given places that `rows` matches.
    ///
    /// - Returns: whether all of them fit into the page.
    private func add(_ places: ArraySlice<OrderPlace>, _ rows: MatchingRows, to page: inout Page) throws -> Bool {
        let matches = try rows.matches(at: places.map(\.position), row: ObjectRow.init)
        let found = Dictionary(uniqueKeysWithValues: matches.map { ($0.position, $0.value) })
        for place in places {
            guard let row = found[place.position] else { continue }
            guard page.found.admits(row.size) else {
                page.next = page.found.rows.last?.place
                return false
            }
            page.found.append((place, row), bytes: row.size)
        }
        return true
    }

    private func followingTheIndex(after: OrderPlace?, _ limit: PageLimit) throws -> Page {
        let rows = MatchingRows(filter, scope: scope, in: connection)
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        var page = Page(found: PageRows(limit))
        var last = after
        var visited = 0
        while visited < Self.mostObjects {
            var places = try organizations.flatMap { try self.places(of: $0, after: last) }
            if organizations.count > 1 { places = Array(places.sorted(by: isBefore).prefix(Self.chunk)) }
            guard !places.isEmpty else { return page }
            guard try add(places[...], rows, to: &page) else { return page }
            visited += places.count
            last = places.last
        }
        page.next = last
        return page
    }

    /// Returns the next places of one organization's objects, from the index.
    private func places(of organization: Int64, after: OrderPlace?) throws -> [OrderPlace] {
        let (comparison, direction) = order.isDescending ? ("<", "DESC") : (">", "ASC")
        func places(_ condition: String, _ ordering: String, _ arguments: [(any Bindable)?]) throws -> [OrderPlace] {
            try connection.query(
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
