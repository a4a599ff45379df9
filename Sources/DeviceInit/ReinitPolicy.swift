/// Who may have a device's key replaced: `device_init.reinit` in the configuration.
public enum ReinitPolicy: String, Sendable, Hashable {
    /// Anyone who names the device, at any time: what deployed clients expect.
    case open

    /// - Parameter text: as the configuration gives it.
    public init(configured text: String) throws(ReinitPolicyError) {
        guard let policy = ReinitPolicy(rawValue: text) else { throw ReinitPolicyError(text: text) }
        self = policy
    }
}

/// A policy that this release does not have.
public struct ReinitPolicyError: Error, Sendable, CustomStringConvertible {
    let text: String

    public var description: String {
        text == "window"
            ? "device_init.reinit: window is not offered yet; use open, and let only devices reach the listener"
            : "device_init.reinit must be open, not \(text)"
    }
}
