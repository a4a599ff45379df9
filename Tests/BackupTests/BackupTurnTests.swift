import Database
import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Backup

@Suite(.timeLimited) struct BackupTurnTests {
    private let base: TestDatabase

    init() throws {
        base = try TestDatabase([])
    }

    @Test func oneBackupRunsAtATime() async throws {
        let turn = BackupTurn(base.database.leases)
        let result = try await turn.run {
            let another = try await turn.run { 2 }
            #expect(another == nil)
            return 1
        }
        #expect(result == 1)
        await #expect(throws: CancellationError.self) { try await turn.run { throw CancellationError() } }
        #expect(try await turn.run { 3 } == 3)
    }

    @Test(.onPostgres) func noBackupRunsWhileAnotherGatewayTakesOne() async throws {
        let turn = BackupTurn(base.database.leases)
        #expect(try await turn.run { 1 } == 1)
        // In the year 2255.
        try await setLease(holder: "other", end: 9_000_000_000_000_000)
        #expect(try await turn.run { 2 } == nil)
        try await setLease(holder: "other", end: 1)
        #expect(try await turn.run { 3 } == 3)
    }

    private func setLease(holder: String, end: Int64) async throws {
        try await base.database.write {
            _ = try $0.execute("UPDATE leases SET holder = $1, expires_at = $2 WHERE name = 'backup'", holder, end)
        }
    }
}
