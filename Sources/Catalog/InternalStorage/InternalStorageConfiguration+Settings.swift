package import Settings

extension InternalStorageConfiguration {
    /// Reads the section `internal`: the limits of its listener, and the authentication of its clients.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("internal")
        maximumReadBytes = section.integer(
            "max_read_bytes", default: maximumReadBytes, in: 1...(64 << 20), unit: "bytes")
        let authorities = section.text("client_authorities", default: "", unit: "PEM file")
        clientAuthorities = authorities.isEmpty ? nil : authorities
    }
}
