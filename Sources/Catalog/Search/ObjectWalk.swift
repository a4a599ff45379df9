import Database
import ObjectFilters

/// An object of a list with its place in the list's order.
struct PlacedRow: Sendable {
    let place: OrderPlace
    let row: ObjectRow
}

/// The matching objects of a list in its order, read some at a time within a budget.
protocol ObjectWalk {
    /// The place after which nothing was examined; `nil` = everything was.
    var rest: OrderPlace? { get }

    /// Returns the next objects; none at the end, or when the budget is spent.
    ///
    /// - Parameter count: the number of objects that are needed; the result may have more or fewer.
    mutating func next(_ count: Int) throws -> [PlacedRow]
}

/// The matches of a list with the newest objects first. The value of their places is 0.
struct NewestWalk: ObjectWalk {
    private let search: ObjectSearch
    private var below: Int64?

    /// - Parameter after: the place before the walk; `nil` = it begins at the newest object.
    init(_ query: PageQuery, after: OrderPlace?, in connection: ReadConnection) throws {
        let budget = SearchBudget(max(query.visits, query.limit.rows))
        search = try ObjectSearch(query.filter, scope: query.scope, in: connection, budget: budget)
        below = after?.position ?? .max
    }

    var rest: OrderPlace? { below.map(Self.place) }

    mutating func next(_ count: Int) throws -> [PlacedRow] {
        guard let position = below else { return [] }
        let matches = try search.someMatches(below: position, wanted: count, row: ObjectRow.init)
        below = matches.rest
        return matches.found.map { PlacedRow(place: Self.place($0.position), row: $0.value) }
    }

    private static func place(_ position: Int64) -> OrderPlace { OrderPlace(value: .number(0), position: position) }
}
