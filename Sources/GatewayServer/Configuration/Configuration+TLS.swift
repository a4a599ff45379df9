import Capability
import HTTPTypes
import Settings
import Sockets

extension Configuration {
    /// Reads the section `tls`; `nil` = no certificate.
    ///
    /// A listener on loopback is cleartext by default: a certificate of an authority has no loopback address, and nobody else can
    /// read what is sent there.
    static func tls(_ settings: SettingsReader, _ addresses: [ListenerName: PeerAddress]) -> TLS? {
        let section = settings.section("tls")
        let certificate = section.text("certificate", default: "", unit: "PEM file")
        let key = section.text("key", default: "", unit: "PEM file")
        let authorities = section.text("client_authorities", default: "", unit: "PEM file")
        let listeners = securedListeners(section, addresses)
        guard certificate.isEmpty == key.isEmpty else {
            settings.report(
                ConfigurationError(
                    "tls.certificate and tls.key must both be set: the PEM files of the certificate chain and its private key",
                    key: certificate.isEmpty ? "tls.key" : "tls.certificate"))
            return nil
        }
        guard !certificate.isEmpty else { return nil }
        return TLS(
            files: TLSCertificates.Files(
                certificate: certificate, key: key, clientAuthorities: authorities.isEmpty ? nil : authorities),
            listeners: listeners)
    }

    private static func securedListeners(
        _ section: SettingsReader, _ addresses: [ListenerName: PeerAddress]
    ) -> Set<ListenerName> {
        let securable = ListenerName.securable.map(\.rawValue)
        let names = section.list(
            "listeners", standard: "those that are not on loopback", bounds: securable.joined(separator: ", "))
        guard let names else {
            return Set(ListenerName.securable.filter { addresses[$0].map { !$0.isLoopback } ?? false })
        }
        var listeners: Set<ListenerName> = []
        for name in names {
            guard let listener = ListenerName(rawValue: name), ListenerName.securable.contains(listener) else {
                section.reject("listeners", "may name \(securable.joined(separator: ", ")), not \(name)")
                continue
            }
            listeners.insert(listener)
        }
        return listeners
    }
}
