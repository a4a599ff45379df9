/// Who may have a device's key replaced: `device_init.reinit` in the configuration. Ids can be guessed, so off loopback
/// somebody has to decide it.
public enum ReinitPolicy: String, Sendable, Hashable, CaseIterable {
    /// Anyone who names the device, at any time: what deployed clients expect.
    case open
    /// Until the new key was first used, which mends a reply that was lost, and for a while after an operator
    /// allowed it.
    case window

    /// - Parameter text: as the configuration gives it.
    public init(configured text: String) throws(ReinitPolicyError) {
        guard let policy = ReinitPolicy(rawValue: text) else { throw ReinitPolicyError(text: text) }
        self = policy
    }
}

/// A policy that there is not.
public struct ReinitPolicyError: Error, Sendable, CustomStringConvertible {
    let text: String

    public var description: String { "device_init.reinit must be open or window, not \(text)" }
}
