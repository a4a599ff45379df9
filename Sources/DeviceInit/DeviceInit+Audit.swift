package import Capability

/// The words of the audit log for devices.
extension DeviceInit {
    package static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.device, "InitDevice", "fetched a key for the device {target}"),
            AuditSentence(.device, "ReinitDevice", "fetched a new key for the device {target}"),
            AuditSentence(.device, "CreateDeviceSuite", "created the suite {target}"),
            AuditSentence(.device, "UpdateDeviceSuite", "changed the suite {target}"),
            AuditSentence(.device, "DeleteDeviceSuite", "deleted the suite {target}"),
            AuditSentence(.device, "RegisterDevice", "registered the device {target}"),
            AuditSentence(.device, "UpdateDevice", "changed the device {target}"),
            AuditSentence(.device, "EnableDevice", "enabled the device {target}"),
            AuditSentence(.device, "DisableDevice", "disabled the device {target}"),
            AuditSentence(.device, "AddDeviceToSuite", "added the device {target} to a suite"),
            AuditSentence(.device, "RemoveDeviceFromSuite", "removed the device {target} from its suite"),
            AuditSentence(.device, "RetireDevice", "retired the device {target}"),
            AuditSentence(.device, "UnretireDevice", "returned the device {target} to use"),
            AuditSentence(.device, "DeleteDevice", "deleted the device {target}"),
            AuditSentence(.device, "AllowReinit", "allowed the device {target} to fetch a new key"),
            AuditSentence(.device, "RotateDeviceKeys", "asked for new keys of {targets}"),
            AuditSentence(.device, "ReportSilentDevice", "reported the device {target} as silent"),
            AuditSentence(.device, "ReportReturnedDevice", "reported that the device {target} returned"),
        ]
    }

    package static var targetKinds: [TargetKind] {
        [
            TargetKind(
                "devices", ("device", "devices"), "display_name AS name", from: "devices"),
            TargetKind(
                "deviceSuites", ("suite", "suites"), "display_name AS name", from: "device_suites", by: .number("id")),
        ]
    }
}
