package import Basics
import COpenSSL
import Glibc
import HTTPTypes
import Synchronization

/// The reason why certificates cannot be used. The description names the file.
package struct TLSError: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// Adds the first of OpenSSL's reasons to the text, without its numbers.
    package init(_ what: String) {
        let code = ERR_peek_error()
        ERR_clear_error()
        let reason = code == 0 ? nil : ERR_reason_error_string(code).map { String(cString: $0) }
        description = reason.map { "\(what): \($0)" } ?? what
    }
}

/// The certificate of listeners and the authorities of their clients' certificates, reloadable without an effect on open
/// connections.
///
/// TLS 1.2 and 1.3 only. The gRPC listeners use OpenSSL: no renegotiation, ALPN `h2` (RFC 9113, section 3.2; RFC 7301). The HTTP
/// server uses GnuTLS and requests no client certificates; GnuTLS's form of the files is loaded and replaced together with
/// OpenSSL's, so that every listener presents the same certificate.
package final class TLSCertificates: Sendable {
    /// The PEM files.
    package struct Files: Sendable {
        /// The chain, with the server's own certificate first.
        package var certificate: String
        package var key: String
        /// The authorities of client certificates (mutual TLS); `nil` = no client certificate is requested.
        package var clientAuthorities: String?
        /// Whether clients without a certificate may connect, too. A presented certificate has to be valid in any case.
        package var admitsUnknownClients: Bool

        package init(
            certificate: String, key: String, clientAuthorities: String? = nil, admitsUnknownClients: Bool = false
        ) {
            self.certificate = certificate
            self.key = key
            self.clientAuthorities = clientAuthorities
            self.admitsUnknownClients = admitsUnknownClients
        }
    }

    /// The loaded and checked contents of the files.
    package struct Loaded: Sendable {
        let context: TLSContext
        let companion: (any Sendable)?

        fileprivate init(_ files: Files, _ companion: Companion?) throws(TLSError) {
            context = try TLSContext(files)
            self.companion = try companion?(context)
        }
    }

    /// A function that converts a certificate and key for another TLS library, after OpenSSL has read and checked them.
    package typealias Companion = @Sendable (TLSContext) throws(TLSError) -> any Sendable

    private let files: Files
    private let makeCompanion: Companion?
    private let current: Lock<Loaded>

    /// - Parameter companion: for listeners with another TLS library; `nil` without such listeners.
    package init(_ files: Files, companion: Companion? = nil) throws(TLSError) {
        self.files = files
        makeCompanion = companion
        current = Lock(try Loaded(files, companion))
    }

    /// Reads the files again; ``use(_:)`` puts the result into use.
    package func load() throws(TLSError) -> Loaded { try Loaded(files, makeCompanion) }

    /// Uses the certificates for new connections.
    package func use(_ fresh: Loaded) { current.withLock { $0 = fresh } }

    /// The expiry of the certificate; `nil` if it has none.
    package var expiry: UnixTime? {
        guard let certificate = SSL_CTX_get0_certificate(context.handle),
            let end = X509_get0_notAfter(certificate)
        else { return nil }
        var time = tm()
        guard ASN1_TIME_to_tm(end, &time) == 1 else { return nil }
        return UnixTime(seconds: Int64(timegm(&time)))
    }

    /// The DNS names and addresses of the certificate.
    package var names: [String] { SSL_CTX_get0_certificate(context.handle).map(certificateNames) ?? [] }

    /// Returns whether the certificate is for a host, a DNS name or an address.
    package func have(name host: String) -> Bool {
        SSL_CTX_get0_certificate(context.handle).map { tls_certificate_has($0, host) == 1 } ?? false
    }

    /// Whether the authorities that this machine trusts verify the certificate.
    package var areTrustedBySystem: Bool { tls_system_trusts(context.handle) == 1 }

    /// The context that a new connection of a gRPC listener uses until its end.
    package var context: TLSContext { current.withLock { $0.context } }
    /// The companion that a new connection of a listener with another library uses until its end.
    package var companion: (any Sendable)? { current.withLock { $0.companion } }
}

/// The authorities that a client trusts for a server's certificate.
package final class TLSAuthorities: Sendable {
    package let context: TLSContext

    /// - Parameter file: a PEM file; `nil` = the authorities that the system trusts.
    package init(file: String?) throws(TLSError) {
        context = try TLSContext(authorities: file)
    }
}

/// Returns the DNS names and addresses of a certificate.
private func certificateNames(_ certificate: OpaquePointer) -> [String] {
    guard let text = tls_certificate_names(certificate) else { return [] }
    defer { ossl_free(text) }
    return String(cString: text).split(separator: "\n").map(String.init)
}

extension TLSError {
    /// The reason why a client's handshake failed: of a certificate that is not accepted, what is wrong with it.
    ///
    /// - Parameters:
    ///   - connection: the `SSL`.
    ///   - host: the host for which the certificate should be.
    package init(failedHandshake connection: OpaquePointer, host: String) {
        let result = Int32(truncatingIfNeeded: SSL_get_verify_result(connection))
        let others = [X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH]
        if others.contains(result), let certificate = tls_presented_certificate(connection) {
            ERR_clear_error()
            self.init(TLSProblem.others(certificateNames(certificate), host: host))
        } else if result != X509_V_OK, let reason = X509_verify_cert_error_string(Int(result)) {
            ERR_clear_error()
            self.init("\(TLSProblem.isNotAccepted): \(String(cString: reason))")
        } else if SSL_is_server(connection) == 0, tls_met_other_protocol() == 1 {
            ERR_clear_error()
            self.init(TLSProblem.isCleartext)
        } else {
            self.init("the TLS handshake failed")
        }
    }
}

/// An owned `SSL_CTX`.
package final class TLSContext: Sendable {
    /// Set up by `init`, then only read; OpenSSL counts its references with atomics.
    package nonisolated(unsafe) let handle: OpaquePointer  // only read

    init(_ files: TLSCertificates.Files) throws(TLSError) {
        ERR_clear_error()
        guard let handle = SSL_CTX_new(TLS_server_method()) else { throw TLSError("OpenSSL has no memory for TLS") }
        self.handle = handle
        tls_harden(handle)
        guard SSL_CTX_use_certificate_chain_file(handle, files.certificate) == 1 else {
            throw TLSError("the certificate \(files.certificate) cannot be used")
        }
        guard SSL_CTX_use_PrivateKey_file(handle, files.key, SSL_FILETYPE_PEM) == 1 else {
            throw TLSError("the private key \(files.key) cannot be used")
        }
        guard SSL_CTX_check_private_key(handle) == 1 else {
            throw TLSError("the private key \(files.key) does not belong to the certificate \(files.certificate)")
        }
        if let authorities = files.clientAuthorities {
            guard SSL_CTX_load_verify_locations(handle, authorities, nil) == 1 else {
                throw TLSError("the client authorities \(authorities) cannot be used")
            }
            SSL_CTX_set_client_CA_list(handle, SSL_load_client_CA_file(authorities))
            let needed = files.admitsUnknownClients ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | needed, nil)
            // OpenSSL rejects clients that resume a session if the sessions have no context name.
            let sessions = Array("data-gateway".utf8)
            SSL_CTX_set_session_id_context(handle, sessions, UInt32(sessions.count))
        }
        SSL_CTX_set_alpn_select_cb(
            handle,
            { _, selected, selectedCount, offered, offeredCount, _ in
                // A client without h2 has no protocol to use here.
                tls_select_h2(selected, selectedCount, offered, offeredCount)
            }, nil)
    }

    /// Makes a client's context.
    init(authorities file: String?) throws(TLSError) {
        ERR_clear_error()
        guard let handle = SSL_CTX_new(TLS_client_method()) else { throw TLSError("OpenSSL has no memory for TLS") }
        self.handle = handle
        tls_harden(handle)
        let loaded =
            file.map { SSL_CTX_load_verify_locations(handle, $0, nil) } ?? SSL_CTX_set_default_verify_paths(handle)
        guard loaded == 1 else { throw TLSError("the authorities in \(file ?? "the system's store") cannot be used") }
        // A file with the server's own certificate or an intermediate one is enough, as it is for libcurl.
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(handle), UInt(X509_V_FLAG_PARTIAL_CHAIN))
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        let h2: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
        SSL_CTX_set_alpn_protos(handle, h2, UInt32(h2.count))
    }

    deinit {
        SSL_CTX_free(handle)
    }
}
