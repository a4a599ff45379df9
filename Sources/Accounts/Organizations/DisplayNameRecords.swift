package import Database

/// The SQL of the numbers that tell whether display names of an organization's devices or sites have changed.
package struct DisplayNameRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    static var migration: Migration {
        Migration(
            name: "accounts-display-names",
            sql: """
                -- version: increases when a device or a site gets a name, so that names that were read before can be used again.
                CREATE TABLE display_name_versions (
                    organization_id INTEGER PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
                    version INTEGER NOT NULL
                ) STRICT;
                """)
    }

    package func version(organizationID: Int64) throws -> Int64 {
        try connection.first(
            "SELECT version FROM display_name_versions WHERE organization_id = $1", organizationID
        ) { $0.int64("version") } ?? 0
    }

    /// Records that a device or a site got a name. Removals do not count: nothing refers to
    /// what was removed.
    package func noteChange(organizationID: Int64) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO display_name_versions (organization_id, version) VALUES ($1, 1)
            ON CONFLICT (organization_id) DO UPDATE SET version = display_name_versions.version + 1
            """, organizationID)
    }
}
