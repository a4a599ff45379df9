import Basics
import Database
import GatewayAPI
import HTTPTypes

/// The limits of failed logins: for an account from one address, for an account from anywhere, and from one address.
///
/// The first is the lowest. An address that has signed in to the account is exempt from the second, so that guesses from elsewhere
/// do not lock the owner out. The limit for an account from anywhere is one of all gateways, the others are of this one.
final class LoginFailures: Sendable {
    struct Attempt: Sendable {
        let account: String
        /// The address range that counts as one address; see `AddressRange.countedAsOne`.
        let address: String
        /// Whether the address has signed in to the account.
        let isKnown: Bool

        fileprivate var accountFromAddress: String { "\(account) \(address)" }
    }

    private let ofAccountFromAddress: Throttle
    private let ofAccount: Throttle
    private let ofAddress: Throttle
    private let ofAccountEverywhere: FailureLimit

    init(_ configuration: AccountsConfiguration, pepper: [UInt8]) {
        ofAccountFromAddress = Throttle(perMinute: configuration.failedLoginsOfAccountFromAddress)
        ofAccount = Throttle(perMinute: configuration.failedLoginsOfAccount)
        ofAddress = Throttle(perMinute: configuration.failedLoginsOfAddress)
        ofAccountEverywhere = FailureLimit(
            name: "account", limit: configuration.failedLoginsOfAccount, period: .minutes(1), key: pepper)
    }

    /// Returns the milliseconds until an attempt is permitted by the failures at all gateways; `nil` if it is now.
    func wait(for attempt: Attempt, at now: UnixTime, in connection: ReadConnection) throws -> Int? {
        attempt.isKnown ? nil : try ofAccountEverywhere.wait(for: attempt.account, at: now, in: connection)
    }

    /// Counts an attempt that has failed for all gateways.
    ///
    /// - Returns: `nil`, or the milliseconds to wait if others have reached the limit meanwhile: then the caller does not learn that it
    ///   has failed.
    func noteFailure(_ attempt: Attempt, at now: UnixTime, in database: Database) async throws -> Int? {
        guard !attempt.isKnown else { return nil }
        return try await database.write(mayUseReserve: true) { [ofAccountEverywhere] in
            try ofAccountEverywhere.count(attempt.account, at: now, in: $0)
        }
    }

    /// Counts an attempt as failed in advance.
    ///
    /// - Returns: `nil` if it may be made; else the milliseconds to wait, and nothing is counted.
    func count(_ attempt: Attempt, at now: UnixTime) -> Int? {
        if let wait = ofAccountFromAddress.take(attempt.accountFromAddress, at: now) { return wait }
        if let wait = ofAddress.take(attempt.address, at: now) {
            ofAccountFromAddress.giveBack(attempt.accountFromAddress)
            return wait
        }
        if !attempt.isKnown, let wait = ofAccount.take(attempt.account, at: now) {
            ofAccountFromAddress.giveBack(attempt.accountFromAddress)
            ofAddress.giveBack(attempt.address)
            return wait
        }
        return nil
    }

    /// Uncounts an attempt that did not fail, or that the gateway could not process.
    func giveBack(_ attempt: Attempt) {
        ofAccountFromAddress.giveBack(attempt.accountFromAddress)
        if !attempt.isKnown { ofAccount.giveBack(attempt.account) }
        ofAddress.giveBack(attempt.address)
    }
}
