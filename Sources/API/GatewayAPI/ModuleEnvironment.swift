import Basics
import Crypto
import Database

/// What every capability works with.
package struct ModuleEnvironment: Sendable {
    package let database: Database
    package let keyring: Keyring
    package let clock: any WallClock
    /// Tells when the clock stepped, and has the steady clock, which did not.
    package let clockGuard: ClockGuard
    package let identifiers: Identifiers
    /// What operators are told.
    package let log: Logger

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
