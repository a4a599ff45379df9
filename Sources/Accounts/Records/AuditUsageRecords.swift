import Database

/// The number of audit lines of each organization. The organization 0 stands for lines without one.
struct AuditUsageRecords {
    struct Usage: Sendable {
        let organizationID: Int64
        /// The number of lines. A line with ids counts as several: one more for every 200 bytes of ids.
        let lines: Int64
    }

    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    func lines(of organizationID: Int64) throws -> Int64 {
        try connection.first(
            "SELECT lines FROM audit_usage WHERE organization_id = $1", organizationID
        ) { $0.int64("lines") } ?? 0
    }

    func all() throws -> [Usage] {
        try connection.query("SELECT organization_id, lines FROM audit_usage ORDER BY organization_id") {
            Usage(organizationID: $0.int64("organization_id"), lines: $0.int64("lines"))
        }
    }
}
