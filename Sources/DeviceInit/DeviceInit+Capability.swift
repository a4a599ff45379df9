package import Capability
package import Database
import Proto
package import RPC

extension DeviceInit: Capability {
    /// The migrations, to be run after those of Accounts, whose tables they refer to.
    package static var migrations: [Migration] { DeviceSchema.migrations }

    package static var settings: (any CapabilitySettings.Type)? { DeviceInitConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (.anyone, [DeviceInitServiceMethods.initDevice, DeviceInitServiceMethods.reinitDevice]),
            (.user(.viewer), [DeviceManagementServiceMethods.getDeviceNames]),
            (
                .user(.operator),
                [
                    DeviceManagementServiceMethods.createDeviceSuite, DeviceManagementServiceMethods.getDeviceSuite,
                    DeviceManagementServiceMethods.listDeviceSuites, DeviceManagementServiceMethods.updateDeviceSuite,
                    DeviceManagementServiceMethods.deleteDeviceSuite,
                    DeviceManagementServiceMethods.registerDevice, DeviceManagementServiceMethods.getDevice,
                    DeviceManagementServiceMethods.listDevices, DeviceManagementServiceMethods.updateDevice,
                    DeviceManagementServiceMethods.enableDevice, DeviceManagementServiceMethods.disableDevice,
                    DeviceManagementServiceMethods.addDeviceToSuite,
                    DeviceManagementServiceMethods.removeDeviceFromSuite,
                    DeviceManagementServiceMethods.retireDevice, DeviceManagementServiceMethods.unretireDevice,
                    DeviceManagementServiceMethods.deleteDevice, DeviceManagementServiceMethods.allowReinit,
                    DeviceManagementServiceMethods.rotateDeviceKeys, DeviceManagementServiceMethods.announceAddresses,
                    DeviceManagementServiceMethods.getAnnouncedAddresses,
                    DeviceManagementServiceMethods.withdrawAddresses,
                ]
            ),
        ])
    }

    package var sweeps: [Sweep] { [.removingNothing("device_silence", run: silence.run)] }

    package func register(for listener: ListenerName, in router: inout Router) {
        switch listener {
        case .deviceInit: initService.register(in: &router)
        case .admin, .web: managementService.register(in: &router)
        default: break
        }
    }
}
