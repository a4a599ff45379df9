import Capability
import HTTPTypes
import Sockets

extension Configuration {
    /// Reads the section `tls`; `nil` = no certificate.
    ///
    /// A listener on loopback is cleartext by default: a certificate of an authority has no loopback address, and nobody else can
    /// read what is sent there.
    static func tls(
        _ reader: inout ConfigurationReader, _ addresses: [ListenerName: PeerAddress]
    ) throws(ConfigurationError) -> TLS? {
        let certificate = try reader.text("tls.certificate", default: "", unit: "PEM file")
        let key = try reader.text("tls.key", default: "", unit: "PEM file")
        let authorities = try reader.text("tls.client_authorities", default: "", unit: "PEM file")
        let securable = ListenerName.securable.map(\.rawValue)
        let names =
            try reader.list(
                "tls.listeners", standard: "those that are not on loopback", bounds: securable.joined(separator: ", "))
            ?? securable.filter { name in
                ListenerName(rawValue: name).flatMap { addresses[$0] }.map { !$0.isLoopback } ?? false
            }
        guard certificate.isEmpty == key.isEmpty else {
            throw ConfigurationError(
                "tls.certificate and tls.key must both be set: the PEM files of the certificate chain and its private key",
                key: certificate.isEmpty ? "tls.key" : "tls.certificate")
        }
        guard !certificate.isEmpty else { return nil }
        var listeners: Set<ListenerName> = []
        for name in names {
            guard let listener = ListenerName(rawValue: name), ListenerName.securable.contains(listener) else {
                throw reader.wrong("tls.listeners", "may name \(securable.joined(separator: ", ")), not \(name)")
            }
            listeners.insert(listener)
        }
        return TLS(
            files: TLSCertificates.Files(
                certificate: certificate, key: key, clientAuthorities: authorities.isEmpty ? nil : authorities),
            listeners: listeners)
    }
}
