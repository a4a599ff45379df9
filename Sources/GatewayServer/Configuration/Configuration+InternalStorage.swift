import Catalog

extension Configuration {
    /// Reads the section `internal`: the limits of the internal listener, and the authentication of its clients.
    mutating func configureInternalStorage(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        internalStorage.maximumReadBytes = try reader.integer(
            "internal.max_read_bytes", default: internalStorage.maximumReadBytes, in: 1...(64 << 20), unit: "bytes")
        let authorities = try reader.text("internal.client_authorities", default: "", unit: "PEM file")
        guard !authorities.isEmpty else { return }
        guard isSecure(.internalStorage) else {
            throw ConfigurationError(
                "internal.client_authorities requires TLS for the internal listener: set tls.certificate and tls.key,"
                    + " and name internal in tls.listeners if it listens on loopback")
        }
        internalAuthorities = authorities
    }
}
