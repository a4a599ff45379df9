import Accounts
import Basics
import GatewayAPI
import HTTPTypes

/// Counts the unknown device ids that each address asks for, since an attacker who tries ids would find devices that wait for their
/// first key.
///
/// Each id is counted once a minute. Devices behind a shared address ask for their own ids and are not counted, and a few
/// unregistered ones do not exclude the others: up to the second limit, a device that may receive a key gets it.
struct UnknownIDs: Sendable {
    enum Verdict: Sendable, Hashable {
        case admitted
        /// The address gets a key or a refusal without a reason; the value is the milliseconds until reasons are given again.
        case unexplained(Int)
        /// The milliseconds until the address is admitted again.
        case refused(Int)
    }

    /// The multiple of the first limit at which an address gets no keys either.
    static let factor = 10

    private let explained: Throttle
    private let admitted: Throttle
    private let repeats = Throttle(perMinute: 1)

    /// - Parameter perMinute: the number of distinct unknown ids a minute for which an address is told the reason; above 0.
    init(perMinute: Int) {
        explained = Throttle(perMinute: perMinute)
        admitted = Throttle(perMinute: perMinute * Self.factor)
    }

    /// - Parameter address: normalized by `AddressRange.countedAsOne`.
    func verdict(on address: String, at now: UnixTime) -> Verdict {
        if let wait = admitted.wait(for: address, at: now) { return .refused(wait) }
        if let wait = explained.wait(for: address, at: now) { return .unexplained(wait) }
        return .admitted
    }

    /// Counts an unknown id.
    func note(_ id: String, from address: String, at now: UnixTime) {
        guard repeats.take("\(address) \(id)", at: now) == nil else { return }
        _ = explained.take(address, at: now)
        _ = admitted.take(address, at: now)
    }
}
