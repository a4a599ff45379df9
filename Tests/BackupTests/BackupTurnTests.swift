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

    @Test(.onPostgres) func oneBackupRunsAtATimeAtAllGateways() async throws {
        let other = try DatabaseEngine.open(base.folder.path + "/gateway.db", [])
        defer { other.close() }
        let (first, second) = (BackupTurn(base.database.leases), BackupTurn(other.leases))
        let result = try await first.run {
            let another = try await second.run { 2 }
            #expect(another == nil)
            return 1
        }
        #expect(result == 1)
        #expect(try await second.run { 3 } == 3)
    }
}
