package import Basics

/// The refused calls that only name a device, or send a wrong secret for its key: anybody can make them, so they are counted in
/// memory, by address, and never written.
///
/// A bounded number of devices and addresses is remembered, those that were noted last.
package final class UnprovenCalls: Sendable {
    /// The calls from one address.
    package struct Tally: Sendable, Hashable {
        /// The caller's, without a port; `others` = those after the first eight.
        package let address: String
        /// The code of the last error.
        package let reason: String
        package let count: Int64
        package let lastAt: UnixTime

        package init(address: String, reason: String, count: Int64, lastAt: UnixTime) {
            self.address = address
            self.reason = reason
            self.count = count
            self.lastAt = lastAt
        }
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
            addresses[counted] = Tally(address: counted, reason: reason, count: count + 1, lastAt: now)
            if state.recent[deviceID] == nil, state.recent.count == Self.maximumDevices {
                (state.earlier, state.recent) = (state.recent, [:])
            }
            state.recent[deviceID] = addresses
        }
    }

    /// Returns the calls that named the device, by address, the latest first.
    package func calls(naming deviceID: String) -> [Tally] {
        let addresses = state.withLock { $0.recent[deviceID] ?? $0.earlier[deviceID] ?? [:] }
        return addresses.values.sorted { ($1.lastAt, $0.address) < ($0.lastAt, $1.address) }
    }
}
