import Accounts
import Basics
import GatewayAPI
import RPC

/// The rule whether a device may receive a key now. It reports the first reason that applies; the caller has checked that the
/// device is registered. The order is: not ready; already, or not yet, initialized; the policy for a key in use.
enum InitializationRule {
    enum Request: String, Sendable {
        case initialize = "InitDevice"
        case reinitialize = "ReinitDevice"
    }

    /// - Parameters:
    ///   - siteStatus: the status of the device's site; `nil` if the device is unbound.
    ///   - key: the state of its key; `nil` if it has none.
    static func refusal(
        of request: Request, _ device: DeviceRecord, siteStatus: Availability?, key: DeviceKeys.State?,
        policy: ReinitPolicy, at now: UnixTime
    ) -> RPCError? {
        if let reason = whyNotReady(device, siteStatus: siteStatus, key: key?.usability) {
            return RPCError(.deviceNotReady, "device \(device.id) is not ready: \(reason)")
        }
        switch (request, device.initializedAt != nil || key != nil) {
        case (.initialize, true):
            return RPCError(
                .deviceAlreadyInitialized, "device \(device.id) is already initialized: use ReinitDevice for a new key")
        case (.reinitialize, false):
            return RPCError(
                .deviceNotInitialized, "device \(device.id) was never initialized: use InitDevice for its first key")
        case (.reinitialize, true) where policy == .window && key?.lastUsedAt != nil && !isAllowed(device, at: now):
            return .failedPrecondition(
                "the key of device \(device.id) is in use: an operator can allow a new key for 15 minutes")
        case (.initialize, false), (.reinitialize, true):
            return nil
        }
    }

    private static func isAllowed(_ device: DeviceRecord, at now: UnixTime) -> Bool {
        device.reinitAllowedUntil.map { now < $0 } ?? false
    }

    /// The reason why a device gets no key after an operator deleted its own, with what ends that.
    static func lackOfKey(_ device: DeviceRecord) -> String {
        """
        its key was deleted; an operator makes another with 'data-gateway key create --device \(device.id)', which \
        'data-gateway init \(device.id) --reinit' on the device replaces
        """
    }

    private static func whyNotReady(
        _ device: DeviceRecord, siteStatus: Availability?, key: KeyUsability?
    ) -> String? {
        if device.retiredAt != nil { return "it is retired" }
        if device.suiteID == nil { return "it is not in a suite" }
        if device.isDisabled { return "it is disabled" }
        if siteStatus != .enabled { return "its site is disabled" }
        switch key {
        case .usable: return nil
        case .disabled: return "its key was disabled"
        case .expired: return "its key has expired"
        case .siteDisabled: return "its site is disabled"
        case nil: return device.initializedAt == nil ? nil : lackOfKey(device)
        }
    }
}
