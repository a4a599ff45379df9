/// The rule for replacing a device's key: `device_init.reinit` in the configuration. Ids can be guessed, so the operator has to
/// choose a policy unless all listeners are on loopback.
package enum ReinitPolicy: String, Sendable, Hashable, CaseIterable {
    /// Anyone who names the device may replace its key at any time, as deployed clients expect.
    case open
    /// The key may be replaced until its first use, in case the response with it was lost, and for some time after an operator's
    /// permission.
    case window
}
