import Platform
import RPC

/// How many logins may fail: for an account from one address, for an account from anywhere, and from one address.
///
/// The first is the narrowest, so that a stranger's guesses do not lock the owner out.
final class LoginFailures: Sendable {
    struct Attempt: Sendable {
        let account: String
        let peer: String

        init(account: String, peer: String) {
            self.account = account
            self.peer = AddressRange.countedAsOne(peer)
        }

        fileprivate var accountFromPeer: String { "\(account) \(peer)" }
    }

    private let ofAccountFromPeer: Throttle
    private let ofAccount: Throttle
    private let ofPeer: Throttle

    init(_ configuration: Accounts.Configuration) {
        ofAccountFromPeer = Throttle(perMinute: configuration.failedLoginsOfAccountFromAddress)
        ofAccount = Throttle(perMinute: configuration.failedLoginsOfAccount)
        ofPeer = Throttle(perMinute: configuration.failedLoginsOfAddress)
    }

    /// Counts an attempt as if it had failed.
    ///
    /// - Returns: `nil` when it may be made; else the milliseconds to wait, and nothing is counted.
    func count(_ attempt: Attempt, at now: UnixTime) -> Int? {
        if let wait = ofAccountFromPeer.take(attempt.accountFromPeer, at: now) { return wait }
        if let wait = ofPeer.take(attempt.peer, at: now) {
            ofAccountFromPeer.giveBack(attempt.accountFromPeer)
            return wait
        }
        if let wait = ofAccount.take(attempt.account, at: now) {
            ofAccountFromPeer.giveBack(attempt.accountFromPeer)
            ofPeer.giveBack(attempt.peer)
            return wait
        }
        return nil
    }

    /// The attempt did not fail.
    func giveBack(_ attempt: Attempt) {
        ofAccountFromPeer.giveBack(attempt.accountFromPeer)
        ofAccount.giveBack(attempt.account)
        ofPeer.giveBack(attempt.peer)
    }
}
