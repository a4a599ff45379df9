/// The rule for replacing a device's key: `device_init.reinit` in the configuration. Ids can be guessed, so off
/// loopback somebody has to decide it.
package enum ReinitPolicy: String, Sendable, Hashable, CaseIterable {
    /// Anyone who names the device, at any time: what deployed clients expect.
    case open
    /// Until the new key was first used, which mends a reply that was lost, and for a while after an operator
    /// allowed it.
    case window
}
