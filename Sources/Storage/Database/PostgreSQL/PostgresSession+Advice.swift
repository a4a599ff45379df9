extension PostgresSession {
    /// Returns what should be changed on the server so that no acknowledged write is lost.
    func warnings() throws(DatabaseError) -> [String] {
        let result = try run(
            """
            SELECT name FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'
            OR name = 'synchronous_standby_names' AND setting = '' ORDER BY name
            """)
        return (0..<result.rowCount).map { row in
            switch result.text(row, 0) {
            case "synchronous_standby_names":
                "the server has no synchronous standby, so a failover may lose the latest writes: set synchronous_standby_names"
            case let name: "the server may lose its data in a power loss: set \(name) = on"
            }
        }
    }

    /// Refuses tables whose texts have another order than SQLite's, in which lists would be wrong.
    func requireCollation() throws(DatabaseError) {
        let result = try run(
            """
            SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            JOIN pg_namespace ON pg_namespace.oid = relnamespace JOIN pg_collation ON pg_collation.oid = attcollation
            WHERE nspname = current_schema() AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            AND collname <> 'C' ORDER BY 1 LIMIT 1
            """)
        guard result.rowCount > 0 else { return }
        throw .unsuitable("the column \(result.text(0, 0)) has another order than bytes: create it with COLLATE \"C\"")
    }
}
