package import Accounts
import Crypto
package import GatewayAPI
package import Identity
package import RPC
package import Webhooks

/// The gateway's modules that apps use.
package struct AppEnvironment: Sendable {
    /// The database, the clock, the keys and the log.
    package let modules: ModuleEnvironment
    package let accounts: Accounts
    package let identity: Identity
    /// Whether the gateway is serving or draining.
    package let state: ServingState
    /// Whether cookies may be sent over TLS only: false on a listener that only this machine reaches, in cleartext.
    package let requiresSecureCookies: Bool
    /// The folder for files that exist only while a call needs them.
    package let spoolDirectory: String
    /// The events for webhooks.
    package var outbox = Outbox.closed

    package init(
        _ modules: ModuleEnvironment, accounts: Accounts, identity: Identity, state: ServingState,
        requiresSecureCookies: Bool, spoolDirectory: String
    ) {
        self.modules = modules
        self.accounts = accounts
        self.identity = identity
        self.state = state
        self.requiresSecureCookies = requiresSecureCookies
        self.spoolDirectory = spoolDirectory
    }
}
