import Accounts
import Crypto
import GatewayAPI
import Identity
import RPC

/// The gateway's modules that apps use.
package struct AppEnvironment: Sendable {
    /// The database, the clock, the keys and the log.
    package let modules: ModuleEnvironment
    package let accounts: Accounts
    package let identity: Identity
    /// Whether the gateway is serving or draining.
    package let state: ServingState

    package init(_ modules: ModuleEnvironment, accounts: Accounts, identity: Identity, state: ServingState) {
        self.modules = modules
        self.accounts = accounts
        self.identity = identity
        self.state = state
    }
}
