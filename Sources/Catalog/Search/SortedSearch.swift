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
        var found: [(place: OrderPlace, object: CatalogObject)] = []
        /// The place after which the next page begins; `nil` = this is the last page.
        var next: OrderPlace?
    }

    let connection: ReadConnection
    let order: ObjectOrder
    /// The filter without ages, see ``ObjectFilter/resolved(at:)``.
    let filter: ObjectFilter
    let scope: Int64?

    func page(after: OrderPlace?, size: Int) throws -> Page {
        try sorted(after: after, size: size) ?? followingTheIndex(after: after, size: size)
    }

    private func isBefore(_ left: OrderPlace, _ right: OrderPlace) -> Bool {
        order.isDescending ? right.precedes(left) : left.precedes(right)
    }

    /// Returns all matches, sorted; `nil` if more may match than are read.
    private func sorted(after: OrderPlace?, size: Int) throws -> Page? {
        guard filter.root != ObjectFilter.everything.hidingTrash.root else { return nil }
        let search = try ObjectSearch(
            filter, scope: scope, in: connection, budget: SearchBudget(Self.mostObjects))
        let matches = try search.matches(below: nil, limit: Self.mostObjects, row: order.value)
        guard matches.rest == nil else { return nil }
        let places = matches.found.map { OrderPlace(value: $0.value, position: $0.position) }
            .filter { place in after.map { isBefore($0, place) } ?? true }
            .sorted(by: isBefore)
        let page = Array(places.prefix(size))
        let rows = MatchingRows(.everything, scope: scope, in: connection)
        let objects = Dictionary(
            uniqueKeysWithValues: try rows.matches(at: page.map(\.position), row: CatalogObject.init)
                .map { ($0.position, $0.value) })
        return Page(
            found: page.compactMap { place in objects[place.position].map { (place, $0) } },
            next: places.count > size ? page.last : nil)
    }

    private func followingTheIndex(after: OrderPlace?, size: Int) throws -> Page {
        let rows = MatchingRows(filter, scope: scope, in: connection)
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        var page = Page()
        var last = after
        var visited = 0
        while visited < Self.mostObjects {
            var places = try organizations.flatMap { try self.places(of: $0, after: last) }
            if organizations.count > 1 { places = Array(places.sorted(by: isBefore).prefix(Self.chunk)) }
            guard !places.isEmpty else { return page }
            let matches = try rows.matches(at: places.map(\.position), row: CatalogObject.init)
            let objects = Dictionary(uniqueKeysWithValues: matches.map { ($0.position, $0.value) })
            for place in places {
                guard let object = objects[place.position] else { continue }
                if page.found.count == size {
                    page.next = page.found.last?.place
                    return page
                }
                page.found.append((place, object))
            }
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
                SELECT position, created_at, size, name FROM objects
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
