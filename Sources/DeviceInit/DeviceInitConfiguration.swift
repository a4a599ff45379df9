import Basics
package import Capability
import GatewayAPI
package import HTTPTypes
package import Settings

/// The callers that may initialize devices, and their limits.
package struct DeviceInitConfiguration: Sendable {
    package var reinit = ReinitPolicy.open
    /// The addresses from which ReinitDevice may be called, whatever the policy; empty = all.
    package var reinitAllow: [AddressRange] = []
    /// The duration of an operator's permission to replace a key, for the policy `window`.
    package var reinitWindow = Duration.minutes(15)
    /// The limit of init and reinit calls a minute for one device from one address.
    package var callsOfDeviceFromAddress = 240
    /// The number of distinct unknown ids a minute after which an address gets no more reasons for refusals; after ten times as
    /// many it gets no keys either.
    package var unknownIDsOfAddress = 30
    /// The time without a call after which a device is reported as silent, unless its site, its suite or itself has another one;
    /// 0 = never. Devices that are off over a weekend are not reported.
    package var silentAfter = Duration.hours(72)

    package init() {}
}

/// The rule for replacing a device's key: `device_init.reinit` in the configuration. Ids can be guessed, so the operator has to
/// choose a policy unless all listeners are on loopback.
package enum ReinitPolicy: String, Sendable, Hashable, CaseIterable {
    /// Anyone who names the device may replace its key at any time, as deployed clients expect.
    case open
    /// The key may be replaced until its first use, in case the response with it was lost, and for some time after an operator's
    /// permission.
    case window
}

extension DeviceInitConfiguration: CapabilitySettings {
    /// Reads the section `device_init`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("device_init")
        reinit = section.choice("reinit", default: reinit)
        reinitAllow = section.addressRanges("reinit_allow", standard: "everywhere")
        silentAfter = section.duration(
            "silent_after_hours", default: silentAfter, in: 0...SilenceLimit.longest, unit: .hours)
        if let address = context.listeners[.deviceInit], !address.isLoopback, !section.contains("reinit") {
            settings.report(
                ConfigurationError(
                    "the device-init listener \(address) is reachable from other machines:"
                        + " set device_init.reinit (open or window) to define who may call ReinitDevice",
                    key: ListenerName.deviceInit.key))
        }
    }
}
