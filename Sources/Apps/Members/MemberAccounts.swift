import Accounts
package import AppSupport
import Basics
import Database
import GRPCWire
import GatewayAPI
import RPC

/// The calls of members about their own accounts.
package struct MemberAccounts: Sendable {
    private let database: Database
    private let removal: UserRemoval
    private let clock: any WallClock

    package init(_ environment: AppEnvironment) {
        database = environment.modules.database
        clock = environment.modules.clock
        removal = environment.accounts.userRemoval
    }

    /// Deletes an account with everything that refers to it.
    ///
    /// - Parameter peer: the caller's address, for the audit log.
    /// - Throws: FAILED_PRECONDITION for the last admin of the organization.
    package func delete(_ userID: Int64, from peer: String) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { [removal] connection in
            let records = UserRecords(connection)
            guard let user = try records.find(id: userID) else { return }
            guard try !records.isLastLocalAdmin(user) else {
                throw RPCError(bare: .failedPrecondition, "the last admin of the organization cannot be deleted")
            }
            // Everything of the user refers to this row, and is deleted with it.
            try removal.remove(user, at: now, in: connection)
            try Audit.record(user.did("DeleteUser", peer: peer), at: now, in: connection)
        }
    }
}
