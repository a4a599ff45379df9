import Basics
import HTTPTypes

/// The callers that may initialize devices, and how often.
package struct DeviceInitConfiguration: Sendable {
    package var reinit = ReinitPolicy.open
    /// From where ReinitDevice may be called, whatever the policy; empty = from everywhere.
    package var reinitAllow: [AddressRange] = []
    /// With the policy `window`: how long an operator's leave to replace a key holds.
    package var reinitWindow = Duration.minutes(15)
    /// Init and reinit calls a minute for one device from one address.
    package var callsOfDeviceFromAddress = 240
    /// Distinct ids a minute that do not exist, asked for by one address, until it is told no reasons any more; with ten
    /// times as many it gets no key either.
    package var unknownIDsOfAddress = 30

    package init() {}
}
