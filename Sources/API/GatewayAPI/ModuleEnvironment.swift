package import Basics
package import Crypto
package import Database
package import TimeZones

/// The services that every capability uses.
package struct ModuleEnvironment: Sendable {
    package let database: Database
    package let keyring: Keyring
    package let clock: any WallClock
    /// Detects steps of the clock, and provides the steady clock, which ignores them.
    package let clockGuard: ClockGuard
    package let identifiers: Identifiers
    /// The log for operators.
    package let log: Logger
    /// Whether other gateways use the database at the same time.
    package var hasReplicas = false
    /// The zones whose names sites and requests may have.
    package var timeZones = TimeZoneFolder.system
    /// The counts of reached limits that no listener counts.
    package let limits = LimitCounts()

    package init(
        database: Database, keyring: Keyring, clock: any WallClock, clockGuard: ClockGuard, identifiers: Identifiers,
        log: Logger = .discarding
    ) {
        self.database = database
        self.keyring = keyring
        self.clock = clock
        self.clockGuard = clockGuard
        self.identifiers = identifiers
        self.log = log
    }
}
