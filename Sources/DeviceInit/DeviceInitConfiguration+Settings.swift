package import Settings

extension DeviceInitConfiguration {
    /// Reads the section `device_init`.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("device_init")
        isReinitSet = section.contains("reinit")
        reinit = section.choice("reinit", default: reinit)
        reinitAllow = section.addressRanges("reinit_allow", standard: "everywhere")
    }
}
