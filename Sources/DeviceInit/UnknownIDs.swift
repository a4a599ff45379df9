import Accounts
import Basics
import GatewayAPI
import HTTPTypes

/// Device ids asked for that do not exist, by address: who walks through ids finds devices that wait for their first key.
///
/// Each id is counted once a minute. Robots behind one address ask for their own ids and are not counted, and some that nobody
/// registered do not keep their neighbors out: up to the second limit a device that may be given a key gets it.
struct UnknownIDs: Sendable {
    enum Verdict: Sendable, Hashable {
        case admitted
        /// It gets a key, or else is told no reason; and the milliseconds until reasons are told again.
        case toldNothing(Int)
        /// The milliseconds until it is admitted again.
        case refused(Int)
    }

    /// How many times as many ids an address may ask for before it gets no key either.
    static let factor = 10

    private let told: Throttle
    private let admitted: Throttle
    private let repeats = Throttle(perMinute: 1)

    /// - Parameter perMinute: distinct ids of an address for which it is told that they do not exist; above 0.
    init(perMinute: Int) {
        told = Throttle(perMinute: perMinute)
        admitted = Throttle(perMinute: perMinute * Self.factor)
    }

    /// - Parameter address: as it is counted; see `AddressRange.countedAsOne`.
    func verdict(on address: String, at now: UnixTime) -> Verdict {
        if let wait = admitted.wait(for: address, at: now) { return .refused(wait) }
        if let wait = told.wait(for: address, at: now) { return .toldNothing(wait) }
        return .admitted
    }

    /// Counts an id that does not exist.
    func note(_ id: String, from address: String, at now: UnixTime) {
        guard repeats.take("\(address) \(id)", at: now) == nil else { return }
        _ = told.take(address, at: now)
        _ = admitted.take(address, at: now)
    }
}
