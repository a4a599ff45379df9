package import Basics
import Capability
import Catalog
package import Configuration
import HTTPServer
package import Sockets

/// The certificate of each listener, and the authorities for its clients' certificates.
package struct GatewayCertificates: Sendable {
    private let certificates: TLSCertificates?
    private let internalStorage: TLSCertificates?
    private let listeners: Set<ListenerName>

    package init(_ configuration: Configuration) throws(TLSError) {
        listeners = configuration.tls?.listeners ?? []
        guard let files = configuration.tls?.files else {
            (certificates, internalStorage) = (nil, nil)
            return
        }
        let common = try TLSCertificates(files, companion: TLSIdentity.companion)
        certificates = common
        guard let authorities = configuration[InternalStorageConfiguration.self].clientAuthorities else {
            internalStorage = common
            return
        }
        // Devices may have certificates, too; those of these authorities serve only the internal listener.
        internalStorage = try TLSCertificates(
            TLSCertificates.Files(
                certificate: files.certificate, key: files.key, clientAuthorities: authorities,
                admitsUnknownClients: true), companion: TLSIdentity.companion)
    }

    /// The expiry of the certificate; `nil` = no listener uses TLS, or it does not expire.
    package var expiry: UnixTime? { certificates?.expiry }

    /// Whether no listener has a certificate.
    package var isEmpty: Bool { certificates == nil }

    /// The DNS names and addresses of the certificate; empty without one.
    package var names: [String] { certificates?.names ?? [] }

    /// Whether the authorities of this machine verify the certificate.
    package var areTrustedBySystem: Bool { certificates?.areTrustedBySystem == true }

    /// Whether the certificate is for a host.
    package func have(name host: String) -> Bool { certificates?.have(name: host) == true }

    /// The certificates of a listener; `nil` = the listener is cleartext.
    subscript(listener: ListenerName) -> TLSCertificates? {
        guard listeners.contains(listener) else { return nil }
        return listener == .internalStorage ? internalStorage : certificates
    }

    /// Reads the files again, for new connections. If one of them cannot be used, nothing changes.
    func reload() throws(TLSError) {
        let fresh = try certificates?.load()
        let freshInternal = internalStorage === certificates ? nil : try internalStorage?.load()
        if let fresh { certificates?.use(fresh) }
        if let freshInternal { internalStorage?.use(freshInternal) }
    }
}
