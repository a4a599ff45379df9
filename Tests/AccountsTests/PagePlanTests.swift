import Database
import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Accounts

/// Plans of the statements that read pages of an organization's records. On a loop nothing but the page may be read.
@Suite(.timeLimited, .onSQLite) struct PagePlanTests {
    @Test(arguments: ["sites", "users"]) func pageIsReadInTheOrderOfAnIndex(table: String) async throws {
        let world = try await TestAccounts()
        let plan = try await world.database.read { connection in
            try connection.query(
                "EXPLAIN QUERY PLAN SELECT * FROM \(table) WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3",
                arguments: [Int64(1), Int64(0), Int64(10)]
            ) { $0.text(3) }
        }
        #expect(plan == ["SEARCH \(table) USING INDEX \(table)_organization (organization_id=? AND id>?)"])
    }
}
