package import Capability
package import Settings

/// The limits of InternalStorageService.
package struct InternalStorageConfiguration: Sendable {
    /// The largest number of bytes in one response to ReadObject, whatever its `max_bytes`.
    package var maximumReadBytes: Int64 = 4 << 20
    /// The PEM file of authorities whose certificates replace a token at the internal listener; `nil` = none.
    package var clientAuthorities: String?

    package init() {}
}

extension InternalStorageConfiguration: CapabilitySettings {
    /// Reads the section `internal`: the limits of its listener, and the authentication of its clients.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("internal")
        maximumReadBytes = section.integer(
            "max_read_bytes", default: maximumReadBytes, in: 1...(64 << 20), unit: "bytes")
        let authorities = section.text("client_authorities", default: "", unit: "PEM file")
        clientAuthorities = authorities.isEmpty ? nil : authorities
        if clientAuthorities != nil, !context.securedListeners.contains(.internalStorage) {
            section.reject(
                "client_authorities",
                "requires TLS for the internal listener: set tls.certificate and tls.key,"
                    + " and name internal in tls.listeners if it listens on loopback")
        }
    }
}
