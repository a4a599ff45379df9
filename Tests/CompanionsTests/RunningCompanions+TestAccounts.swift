import AppSupport
import GatewayTesting
import Identity
import RPC

@testable import Companions

extension RunningCompanions {
    /// Opens the app on the database of a test.
    convenience init(
        _ world: TestAccounts, _ configuration: CompanionsConfiguration = CompanionsConfiguration()
    ) async throws {
        try await self.init(
            AppEnvironment(
                world.environment, accounts: world.accounts,
                identity: Identity(
                    world.environment, accounts: world.accounts, configuration: IdentityConfiguration()),
                state: ServingState(), requiresSecureCookies: true, spoolDirectory: world.directory), configuration)
    }
}
