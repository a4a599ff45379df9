import Database

/// What one page of the list asks for.
struct PageQuery: Sendable {
    /// The organization whose objects are listed; `nil` = every one's.
    let scope: Int64?
    let filter: ObjectFilter
    /// Only what stands behind this position; `nil` = from the newest on.
    let after: Int64?
    /// At least 1.
    let size: Int
    /// How many rows the page may look at where the filter has more to say than its index: it comes back short then.
    let visits: Int
}

struct ObjectPage: Sendable {
    let objects: [CatalogObject]
    /// The position after which the next page begins; `nil` = this is the last page.
    let next: Int64?
}

extension ObjectRecords {
    /// Newest first.
    ///
    /// One condition drives the search along an index that is in the order of the list; the others are looked at row by
    /// row, and only on so many rows, so that the cost of a page does not grow with the catalog.
    func page(_ query: PageQuery) throws -> ObjectPage {
        let search = PageSearch(query)
        let stop = search.visited.isEmpty ? nil : try lastVisited(search)
        let (sql, arguments) = search.page(downTo: stop)
        let rows = try connection.query(sql, arguments: arguments) { row in
            (position: row.int64("position"), object: Self.object(row))
        }
        guard rows.count > query.size else { return ObjectPage(objects: rows.map(\.object), next: stop) }
        return ObjectPage(objects: rows.prefix(query.size).map(\.object), next: rows[query.size - 1].position)
    }

    /// Where the search has looked at all the rows that it may; `nil` where it comes to the end before.
    private func lastVisited(_ search: PageSearch) throws -> Int64? {
        try connection.query(search.visited, arguments: search.visitedArguments) { row in
            row.int("visited") == search.visits ? row.optionalInt64("lowest") : nil
        }.first ?? nil
    }
}

/// The statements of a page. Values are arguments always; the texts differ with the kinds of terms only.
struct PageSearch {
    let visits: Int
    /// Counts the rows that the driving condition finds, and says where they end; empty where it is the only condition,
    /// and every row that is looked at fits.
    let visited: String
    let visitedArguments: [(any Bindable)?]
    private let size: Int
    private let table: String
    /// On the driving table, `d`.
    private let driving: [String]
    private let drivingArguments: Arguments
    /// On the object, `o`.
    private let others: [Condition]

    init(_ query: PageQuery) {
        var conditions = query.filter.terms.compactMap(Condition.init)
        if let scope = query.scope { conditions.append(.organization(scope)) }
        let driver = conditions.indices.filter { conditions[$0].isDriving }
            .min { conditions[$0].rank < conditions[$1].rank }
        let first = driver.map { conditions.remove(at: $0) }

        var arguments = Arguments()
        var driving: [String] = []
        if case .tag(let key, let value) = first {
            table = "object_tags"
            driving = ["d.key = \(arguments.bind(key))", "d.value = \(arguments.bind(value))"]
        } else {
            table = "objects"
            driving = first.map { [$0.sql("d", &arguments)] } ?? []
        }
        if let after = query.after { driving.append("d.position < \(arguments.bind(after))") }
        self.driving = driving
        drivingArguments = arguments
        others = conditions
        size = query.size
        visits = max(query.visits, query.size)
        let candidates = """
            SELECT d.position FROM \(table) d \(driving.isEmpty ? "" : "WHERE \(driving.joined(separator: " AND "))")
            ORDER BY d.position DESC LIMIT \(arguments.bind(visits))
            """
        visited = others.isEmpty ? "" : "SELECT count(*) AS visited, min(c.position) AS lowest FROM (\(candidates)) c"
        visitedArguments = arguments.values
    }

    /// One row more than the page has, to see whether there is another one.
    ///
    /// The object is joined to what drives the search, even where that is the same row, since a condition on the driving
    /// table could have the engine choose another index than the one whose rows were counted. CROSS JOIN is never turned
    /// round in SQLite.
    func page(downTo stop: Int64?) -> (sql: String, arguments: [(any Bindable)?]) {
        var arguments = drivingArguments
        // Bad objects are few, and so are not counted among the rows that a page looks at.
        var conditions = ["o.position = d.position", "o.bad_at IS NULL"] + driving
        if let stop { conditions.append("d.position >= \(arguments.bind(stop))") }
        conditions += others.map { $0.sql("o", &arguments) }
        let sql = """
            SELECT \(ObjectRecords.columns) FROM \(table) d CROSS JOIN objects o
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY d.position DESC LIMIT \(arguments.bind(size + 1))
            """
        return (sql, arguments.values)
    }
}

private struct Arguments {
    private(set) var values: [(any Bindable)?] = []

    /// The parameter that stands for the value.
    mutating func bind(_ value: any Bindable) -> String {
        values.append(value)
        return "$\(values.count)"
    }
}

/// One condition on a row of `objects`.
private enum Condition {
    case objectID(String)
    case tag(key: String, value: String)
    case device(String)
    case site(Int64)
    case organization(Int64)
    case interval(column: String, ObjectFilter.Interval)

    init?(_ term: ObjectFilter.Term) {
        switch term {
        case .isVerified: return nil
        case .objectID(let id): self = .objectID(id)
        case .tag(let key, let value): self = .tag(key: key, value: value)
        case .device(let id): self = .device(id)
        case .site(let id): self = .site(id)
        case .size(let interval): self = .interval(column: "size", interval)
        case .created(let interval): self = .interval(column: "created_at", interval)
        }
    }

    /// Whether an index has its rows in the order of the list.
    var isDriving: Bool {
        if case .interval = self { false } else { true }
    }

    /// Which one had better drive the search: the lowest.
    var rank: Int {
        switch self {
        case .objectID: 0
        case .tag: 1
        case .device: 2
        case .site: 3
        case .organization: 4
        case .interval: 5
        }
    }

    /// - Parameter row: what the statement calls the row.
    func sql(_ row: String, _ arguments: inout Arguments) -> String {
        switch self {
        case .objectID(let id): "\(row).id = \(arguments.bind(id))"
        case .tag(let key, let value):
            """
            EXISTS (SELECT 1 FROM object_tags t WHERE t.position = \(row).position AND t.key = \(arguments.bind(key))
                AND t.value = \(arguments.bind(value)))
            """
        case .device(let id): "\(row).device_id = \(arguments.bind(id))"
        case .site(let id): "\(row).site_id = \(arguments.bind(id))"
        case .organization(let id): "\(row).organization_id = \(arguments.bind(id))"
        case .interval(let column, let interval):
            "\(row).\(column) >= \(arguments.bind(interval.lower ?? .min))"
                + " AND \(row).\(column) < \(arguments.bind(interval.upper ?? .max))"
        }
    }
}
