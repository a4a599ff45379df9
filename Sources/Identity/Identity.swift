package import Accounts
import Basics
import Crypto
import Database
package import GatewayAPI
import RPC

/// Sign-ins by identity providers: people's, with a browser or an app, and workloads', e.g. of CI jobs.
package final class Identity: Sendable {
    let service: IdentityService
    let database: Database

    package convenience init(
        _ environment: ModuleEnvironment, accounts: Accounts, configuration: IdentityConfiguration
    ) {
        self.init(environment, accounts: accounts, configuration: configuration) {
            ProviderConnection(authorities: $0.authorities)
        }
    }

    /// - Parameter transport: makes the connection to a provider.
    init(
        _ environment: ModuleEnvironment, accounts: Accounts, configuration: IdentityConfiguration,
        transport: (IdentityProvider) -> any ProviderTransport
    ) {
        let (database, clock, log) = (environment.database, environment.clock, environment.log)
        self.database = database
        let providers = configuration.providers
        let nonces = NonceIssuer(
            key: environment.keyring.key(.identityNonces), lifetime: configuration.signInTime)
        let browser = BrowserSignIns(
            flowKey: environment.keyring.key(.signInFlows), nonces: nonces, configuration: configuration,
            clock: clock, log: log)
        let signIns = IdentitySignIns(
            sources: providers.map {
                ProviderSource($0, transport: transport($0), database: database, clock: clock, log: log)
            },
            database: database, clock: clock, accounts: accounts,
            rules: SignInRules(
                providers: providers, accounts: accounts.externalSignIns, repeatGrace: configuration.repeatGrace),
            nonces: nonces, browser: browser, failures: Throttle(perMinute: configuration.failuresOfAddress),
            limits: environment.limits, log: log)
        service = IdentityService(
            providers: providers, signIns: signIns,
            identities: Identities(database: database, clock: clock, accounts: accounts.externalSignIns))
    }
}
