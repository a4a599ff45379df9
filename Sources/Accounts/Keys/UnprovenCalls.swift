package import Basics

/// The refused calls that only name a device, or send a wrong secret for its key: anybody can make them, so they are counted in
/// memory, by address, and never written.
///
/// A bounded number of devices and addresses is remembered, those that were noted last.
package final class UnprovenCalls: Sendable {
    /// The calls from one address.
    package struct Tally: Sendable, Hashable {
        package fileprivate(set) var count: Int64
        package fileprivate(set) var lastAt: UnixTime
        /// The code of the last error.
        package fileprivate(set) var reason: String
    }

    private struct State {
        var recent: [String: [String: Tally]] = [:]
        var earlier: [String: [String: Tally]] = [:]
    }

    /// The number of devices after which the oldest ones are forgotten; at most twice as many are remembered.
    private static let maximumDevices = 1000
    /// The number of addresses of one device; further ones are counted together.
    private static let maximumAddresses = 8
    private static let otherAddresses = "others"

    private let state = Lock(State())

    /// - Parameter address: the caller's, without a port.
    package func note(_ deviceID: String, from address: String, reason: String, at now: UnixTime) {
        state.withLock { state in
            var addresses = state.recent[deviceID] ?? state.earlier.removeValue(forKey: deviceID) ?? [:]
            let isKnown = addresses[address] != nil || addresses.count < Self.maximumAddresses
            let counted = isKnown ? address : Self.otherAddresses
            let count = addresses[counted]?.count ?? 0
            addresses[counted] = Tally(count: count + 1, lastAt: now, reason: reason)
            if state.recent[deviceID] == nil, state.recent.count == Self.maximumDevices {
                (state.earlier, state.recent) = (state.recent, [:])
            }
            state.recent[deviceID] = addresses
        }
    }

    /// Returns the calls that named the device, by address, the latest first.
    package func calls(naming deviceID: String) -> [(address: String, tally: Tally)] {
        let addresses = state.withLock { $0.recent[deviceID] ?? $0.earlier[deviceID] ?? [:] }
        return addresses.map { (address: $0.key, tally: $0.value) }
            .sorted { ($1.tally.lastAt, $0.address) < ($0.tally.lastAt, $1.address) }
    }
}
