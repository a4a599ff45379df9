import Basics
import Configuration
import HTTPServer
import Sockets

/// What each listener shows, and whose clients it asks for a certificate.
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
        guard let authorities = configuration.internalAuthorities else {
            internalStorage = common
            return
        }
        // Robots may have certificates, too: those of these authorities are for nothing else.
        internalStorage = try TLSCertificates(
            TLSCertificates.Files(
                certificate: files.certificate, key: files.key, clientAuthorities: authorities,
                admitsUnknownClients: true), companion: TLSIdentity.companion)
    }

    /// When what they show ends; `nil` = no listener speaks TLS, or it does not say so.
    var expiry: UnixTime? { certificates?.expiry }

    /// Whether no listener speaks TLS.
    var isEmpty: Bool { certificates == nil }

    /// `nil` = the listener speaks cleartext.
    subscript(listener: ListenerName) -> TLSCertificates? {
        guard listeners.contains(listener) else { return nil }
        return listener == .internalStorage ? internalStorage : certificates
    }

    /// Reads the files again, for connections to come. Where one of them cannot be used, all stay as they were.
    func reload() throws(TLSError) {
        let fresh = try certificates?.load()
        let freshInternal = internalStorage === certificates ? nil : try internalStorage?.load()
        if let fresh { certificates?.use(fresh) }
        if let freshInternal { internalStorage?.use(freshInternal) }
    }
}
