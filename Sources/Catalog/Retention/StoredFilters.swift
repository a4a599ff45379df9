import Database
import ObjectFilters

/// The filters of retention rules and of operations on many objects.
enum StoredFilters {
    /// Keeps the meaning that they had when they were stored, see ``FilterParser/rewriting(_:)``. Operations that ended keep their
    /// texts.
    static let migration = Migration(name: "catalog-begins", change: rewrite)

    @Sendable static func rewrite(in connection: Connection) throws {
        let rules = try connection.query("SELECT organization_id, number, filter FROM retention_rules") {
            (organizationID: $0.int64("organization_id"), number: $0.int64("number"), filter: $0.text("filter"))
        }
        for rule in rules {
            guard let filter = rewritten(rule.filter) else { continue }
            try connection.execute(
                "UPDATE retention_rules SET filter = $3 WHERE organization_id = $1 AND number = $2",
                rule.organizationID, rule.number, filter)
        }
        let operations = try connection.query("SELECT id, filter FROM object_operations WHERE finished_at IS NULL") {
            (id: $0.text("id"), filter: $0.text("filter"))
        }
        for operation in operations {
            guard let filter = rewritten(operation.filter) else { continue }
            try connection.execute("UPDATE object_operations SET filter = $2 WHERE id = $1", operation.id, filter)
        }
    }

    /// - Returns: `nil` if nothing changes. A filter that cannot be parsed stays, and nothing is deleted by it.
    private static func rewritten(_ filter: String) -> String? {
        guard let rewritten = try? FilterParser.rewriting(filter), rewritten != filter else { return nil }
        return rewritten
    }
}
