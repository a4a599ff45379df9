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
    /// Where the next page goes on; `nil` = there is none.
    let next: Int64?
}

extension ObjectRecords {
    /// Newest first.
    ///
    /// One condition drives the search along an index that is in the order of the list; the others are looked at row by
    /// row, and only on so many rows, so that the cost of a page does not grow with the catalog.
    func page(_ query: PageQuery) throws -> ObjectPage {
        let search = PageSearch(query)
        let rows = try connection.query(search.page, arguments: search.pageArguments) { row in
            (position: row.int64(0), object: Self.object(row))
        }
        if rows.count > query.size {
            return ObjectPage(objects: rows.prefix(query.size).map(\.object), next: rows[query.size - 1].position)
        }
        let last = search.isExact ? nil : try lastVisited(search)
        return ObjectPage(objects: rows.map(\.object), next: last)
    }

    /// Where the search stopped because it had looked at all the rows that it may; `nil` where it came to the end.
    private func lastVisited(_ search: PageSearch) throws -> Int64? {
        try connection.query(search.visited, arguments: search.visitedArguments) { row in
            row.int(0) == search.visits ? row.optionalInt64(1) : nil
        }.first ?? nil
    }
}

/// The two statements of a page. Values are arguments always; the texts differ with the kinds of terms only.
struct PageSearch {
    /// Whether the driving condition is the only one.
    let isExact: Bool
    let visits: Int
    let page: String
    let pageArguments: [(any Bindable)?]
    let visited: String
    let visitedArguments: [(any Bindable)?]

    init(_ query: PageQuery) {
        var conditions = query.filter.terms.compactMap(Condition.init)
        if let scope = query.scope { conditions.append(.organization(scope)) }
        let driver = conditions.indices.filter { conditions[$0].isDriving }
            .min { conditions[$0].rank < conditions[$1].rank }
        let driving = driver.map { conditions.remove(at: $0) }

        var arguments = Arguments()
        let table: String
        var drivingSQL: [String] = []
        if case .tag(let key, let value) = driving {
            table = "object_tags"
            drivingSQL = ["o.key = \(arguments.bind(key))", "o.value = \(arguments.bind(value))"]
        } else {
            table = "objects"
            drivingSQL = driving.map { [$0.sql(&arguments)] } ?? []
        }
        if let after = query.after { drivingSQL.append("o.position < \(arguments.bind(after))") }
        isExact = conditions.isEmpty
        visits = isExact ? query.size + 1 : max(query.visits, query.size + 1)
        let candidates = """
            SELECT o.position FROM \(table) o \(Self.clause(drivingSQL)) ORDER BY o.position DESC
            LIMIT \(arguments.bind(visits))
            """
        visited = "SELECT count(*), min(c.position) FROM (\(candidates)) c"
        visitedArguments = arguments.values
        let others = conditions.map { $0.sql(&arguments) }
        page = """
            SELECT \(ObjectRecords.columns) FROM (\(candidates)) c JOIN objects o ON o.position = c.position
            \(Self.clause(others)) ORDER BY o.position DESC LIMIT \(arguments.bind(query.size + 1))
            """
        pageArguments = arguments.values
    }

    private static func clause(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
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

/// One condition on a row of `objects o`.
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

    func sql(_ arguments: inout Arguments) -> String {
        switch self {
        case .objectID(let id): "o.id = \(arguments.bind(id))"
        case .tag(let key, let value):
            """
            EXISTS (SELECT 1 FROM object_tags t WHERE t.position = o.position AND t.key = \(arguments.bind(key))
                AND t.value = \(arguments.bind(value)))
            """
        case .device(let id): "o.device_id = \(arguments.bind(id))"
        case .site(let id): "o.site_id = \(arguments.bind(id))"
        case .organization(let id): "o.organization_id = \(arguments.bind(id))"
        case .interval(let column, let interval):
            "o.\(column) >= \(arguments.bind(interval.lower ?? .min))"
                + " AND o.\(column) < \(arguments.bind(interval.upper ?? .max))"
        }
    }
}
