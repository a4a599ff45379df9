package import Capability
import HTTPTypes
package import Settings

extension DeviceInitConfiguration: CapabilitySettings {
    /// Reads the section `device_init`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("device_init")
        reinit = section.choice("reinit", default: reinit)
        reinitAllow = section.addressRanges("reinit_allow", standard: "everywhere")
        if let address = context.listeners[.deviceInit], !address.isLoopback, !section.contains("reinit") {
            settings.report(
                ConfigurationError(
                    "the device-init listener \(address) is reachable from other machines:"
                        + " set device_init.reinit (open or window) to define who may call ReinitDevice",
                    key: ListenerName.deviceInit.key))
        }
    }
}
