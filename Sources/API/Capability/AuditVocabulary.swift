package import Database

/// The words of the audit log for an action that succeeded.
package struct AuditSentence: Sendable {
    /// The subjects of actions; the raw value is used in the API.
    package enum Group: Int32, Sendable {
        case upload = 1
        case download = 2
        case deletion = 3
        case change = 4
        case signIn = 5
        case access = 6
        case device = 7
        case gateway = 8
    }

    package let group: Group
    /// The method's name, e.g. `DisableSite`, or the name of what the gateway did.
    package let action: String
    /// The words after the actor, e.g. `disabled the site {target}`.
    ///
    /// `{target}` stands for the name of the target, `{targets}` for the targets with their noun: `the object front.mcap`, `100 objects`;
    /// `{count}` for the number of actions.
    package let text: String
    /// The text for several actions of a device or a program, e.g. `completed {count} uploads`; `nil` = they are numbered.
    package let several: String?

    package init(_ group: Group, _ action: String, _ text: String, several: String? = nil) {
        self.group = group
        self.action = action
        self.text = text
        self.several = several
    }
}

/// A target of an audit line as it is now.
package struct TargetName: Sendable {
    package enum State: Sendable {
        case present
        /// In the trash.
        case trashed
    }

    /// Empty = it has no name.
    package let text: String
    /// The resource to which people go for it; `nil` = the target itself.
    package let resource: String?
    package let state: State

    package init(_ text: String, resource: String? = nil, state: State = .present) {
        self.text = text
        self.resource = resource
        self.state = state
    }
}

/// The targets of audit lines that have names: those of one kind.
package struct TargetKind: Sendable {
    /// The column of the ids of targets, in SQL.
    package enum TargetID: Sendable {
        case text(String)
        case number(String)

        fileprivate var column: String {
            switch self {
            case .text(let column), .number(let column): column
            }
        }

        /// Returns the ids as values of the column, without those that it cannot have.
        fileprivate func values(_ ids: [String]) -> [any Bindable & Sendable] {
            switch self {
            case .text: ids
            case .number: ids.compactMap { Int64($0) }
            }
        }
    }

    /// The beginning of the target, e.g. `devices`.
    package let name: String
    /// The nouns for one, and for several, e.g. `device`, `devices`.
    package let nouns: (one: String, many: String)
    /// The columns from which the name is made.
    private let columns: String
    /// The tables, one of which has an `organization_id`.
    private let tables: String
    private let id: TargetID
    private let read: @Sendable (Row) -> TargetName

    /// - Parameters:
    ///   - columns: those from which the name is made, in SQL.
    ///   - from: the tables in SQL, one of which has an `organization_id`.
    ///   - id: the column of the ids.
    ///   - read: makes the name of a row; by default that of the column `name`.
    package init(
        _ name: String, _ nouns: (one: String, many: String), _ columns: String = "name", from tables: String,
        by id: TargetID = .text("id"), read: @escaping @Sendable (Row) -> TargetName = { TargetName($0.text("name")) }
    ) {
        self.name = name
        self.nouns = nouns
        self.columns = columns
        self.tables = tables
        self.id = id
        self.read = read
    }

    /// Returns those of the targets that exist, by their ids.
    ///
    /// - Parameter organizationID: the organization to which they belong; `nil` = any.
    package func find(
        _ ids: [String], organizationID: Int64?, in connection: ReadConnection
    ) throws -> [String: TargetName] {
        let values = id.values(ids)
        let column = id.column
        var found: [String: TargetName] = [:]
        for start in stride(from: 0, to: values.count, by: Self.idsOfStatement) {
            let some = ParameterList.padded(Array(values[start..<min(start + Self.idsOfStatement, values.count)]))
            let parameters = ParameterList.text(some.count, from: 2)
            let rows = try connection.query(
                """
                SELECT CAST(\(column) AS TEXT) AS target_id, \(columns) FROM \(tables)
                WHERE \(column) IN (\(parameters))
                    AND organization_id = coalesce($1, organization_id)
                """, arguments: [organizationID] + some
            ) { ($0.text("target_id"), read($0)) }
            found.merge(rows) { first, _ in first }
        }
        return found
    }

    private static let idsOfStatement = 100
}

/// The words of the audit log: those of all capabilities.
package struct AuditVocabulary: Sendable {
    private let sentences: [String: AuditSentence]
    private let kinds: [String: TargetKind]

    package init(_ capabilities: [any Capability.Type] = []) {
        sentences = Dictionary(capabilities.flatMap { $0.auditSentences }.map { ($0.action, $0) }) { first, _ in first }
        kinds = Dictionary(capabilities.flatMap { $0.targetKinds }.map { ($0.name, $0) }) { first, _ in first }
    }

    package func sentence(for action: String) -> AuditSentence? { sentences[action] }

    package func kind(named name: String) -> TargetKind? { kinds[name] }

    /// Returns the actions of a group in alphabetical order.
    package func actions(of group: AuditSentence.Group) -> [String] {
        sentences.values.filter { $0.group == group }.map(\.action).sorted()
    }
}
