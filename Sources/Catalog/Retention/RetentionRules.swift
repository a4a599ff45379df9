import Basics
import Database
import GatewayAPI
import ObjectFilters
import RPC

/// The retention of an organization's objects: that of the first rule that matches an object, else the default.
struct RetentionRules: Sendable, Hashable {
    struct Rule: Sendable, Hashable {
        /// The text in the request.
        let text: String
        let filter: ResolvedFilter
        /// The retention in days; 0 = objects are kept.
        let days: Int32
    }

    static let migration = Migration(
        name: "catalog-retention-rules",
        sql: """
            -- For how many days objects that match a filter are kept; the lowest number decides. 0 = for ever.
            CREATE TABLE retention_rules (
                organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                number INTEGER NOT NULL,
                filter TEXT NOT NULL,
                days INTEGER NOT NULL,
                PRIMARY KEY (organization_id, number)
            ) STRICT, WITHOUT ROWID;
            """)

    /// About a hundred years; longer retentions mean to keep objects.
    private static let mostDays: Int32 = 36_500
    private static let mostRules = 20

    /// The retention for objects without a matching rule, in days; 0 = they are kept.
    let days: Int32
    var rules: [Rule]

    init(days: Int32, rules: [Rule]) {
        self.days = days
        self.rules = rules
    }

    /// Makes the retention from a SetRetention request.
    ///
    /// - Throws: INVALID_ARGUMENT that names the field and the rule.
    init(days: Int32, rules: [(filter: String, days: Int32)], replacesRules: Bool) throws(RPCError) {
        guard (0...Self.mostDays).contains(days) else {
            throw .invalidArgument("days must be 0 (keep objects) to \(Self.mostDays)")
        }
        guard replacesRules || rules.isEmpty else {
            throw .invalidArgument("rules must be empty unless replace_rules is set")
        }
        guard rules.count <= Self.mostRules else {
            throw .invalidArgument("rules must have at most \(Self.mostRules) entries, not \(rules.count)")
        }
        self.days = days
        self.rules = []
        for (index, rule) in rules.enumerated() {
            guard (0...Self.mostDays).contains(rule.days) else {
                throw .invalidArgument("rules[\(index)].days must be 0 (keep objects) to \(Self.mostDays)")
            }
            let field = "rules[\(index)].filter"
            self.rules.append(
                Rule(text: rule.filter, filter: try Self.parse(rule.filter, field: field), days: rule.days))
        }
    }

    /// - Throws: INVALID_ARGUMENT that names the field and the rule.
    static func parse(_ text: String, field: String) throws(RPCError) -> ResolvedFilter {
        let filter: ObjectFilter
        do {
            filter = try FilterParser.parseForChange(text)
        } catch {
            throw .invalidArgument("\(field): \(error)")
        }
        guard filter != .everything else {
            throw .invalidArgument("\(field) must not be empty: days is for objects that no rule matches")
        }
        guard let filter = filter.steady, !filter.hasTrashed else {
            throw .invalidArgument("\(field) must not have a term age or trashed")
        }
        return filter.hidingTrash
    }

    /// The distinct retentions in days, the shortest first.
    var ages: [Int32] { Set(rules.map(\.days) + [days]).filter { $0 > 0 }.sorted() }

    static func limit(days: Int32, at now: UnixTime) -> UnixTime { now.subtracting(.days(Int64(days))) }

    /// Returns the retention in days of each of the given objects.
    ///
    /// - Parameter positions: the positions of objects of the organization outside the trash.
    func days(at positions: [Int64], organizationID: Int64, in connection: ReadConnection) throws -> [Int64: Int32] {
        var result: [Int64: Int32] = [:]
        var open = positions.sorted(by: >)
        for rule in rules where !open.isEmpty {
            let rows = MatchingRows(rule.filter, scope: organizationID, in: connection, includesCorrupted: true)
            for match in try rows.matches(at: open, row: { _ in true }) { result[match.position] = rule.days }
            open.removeAll { result[$0] != nil }
        }
        for position in open { result[position] = days }
        return result
    }
}
