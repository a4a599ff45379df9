import Basics
import COpenSSL
import Glibc

/// Why certificates cannot be used. The description names the file.
package struct TLSError: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// With the first of OpenSSL's reasons, and without its numbers.
    package init(_ what: String) {
        let code = ERR_peek_error()
        ERR_clear_error()
        let reason = code == 0 ? nil : ERR_reason_error_string(code).map { String(cString: $0) }
        description = reason.map { "\(what): \($0)" } ?? what
    }
}

/// The certificate that listeners show, and whose clients they ask for one; read again without touching the connections that
/// are there.
///
/// TLS 1.2 and 1.3 only. The gRPC listeners speak it by OpenSSL: no renegotiation, ALPN `h2` (RFC 9113, section 3.2;
/// RFC 7301). The HTTP server does by GnuTLS, and asks no client for a certificate: what GnuTLS makes of the files is loaded and
/// swapped with what OpenSSL does, so that every listener shows the same.
package final class TLSCertificates: Sendable {
    /// PEM files.
    package struct Files: Sendable {
        /// The chain, the server's own certificate first.
        package var certificate: String
        package var key: String
        /// Whose clients may connect (mutual TLS); `nil` = no certificate is asked for.
        package var clientAuthorities: String?
        /// Whether a client without a certificate may connect, too. One that is shown has to be of the authorities.
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

    /// What the files held, all of it usable.
    package struct Loaded: Sendable {
        let context: TLSContext
        let companion: (any Sendable)?

        fileprivate init(_ files: Files, _ companion: Companion?) throws(TLSError) {
            context = try TLSContext(files)
            self.companion = try companion?(context)
        }
    }

    /// What another TLS library makes of the certificate and key that OpenSSL has read and checked.
    package typealias Companion = @Sendable (TLSContext) throws(TLSError) -> any Sendable

    private let files: Files
    private let makeCompanion: Companion?
    private let current: Lock<Loaded>

    /// - Parameter companion: for listeners that speak TLS by another library; `nil` where none does.
    package init(_ files: Files, companion: Companion? = nil) throws(TLSError) {
        self.files = files
        makeCompanion = companion
        current = Lock(try Loaded(files, companion))
    }

    /// Reads the files again; what they hold is in use from ``use(_:)`` on.
    package func load() throws(TLSError) -> Loaded { try Loaded(files, makeCompanion) }

    /// For connections to come.
    package func use(_ fresh: Loaded) { current.withLock { $0 = fresh } }

    /// When the certificate that is shown ends; `nil` where it does not say so.
    package var expiry: UnixTime? {
        guard let certificate = SSL_CTX_get0_certificate(context.handle),
            let end = X509_get0_notAfter(certificate)
        else { return nil }
        var time = tm()
        guard ASN1_TIME_to_tm(end, &time) == 1 else { return nil }
        return UnixTime(seconds: Int64(timegm(&time)))
    }

    /// What a new connection of a gRPC listener uses to its end.
    package var context: TLSContext { current.withLock { $0.context } }
    /// What a new connection of a listener with another library uses to its end.
    package var companion: (any Sendable)? { current.withLock { $0.companion } }
}

/// Whose certificates a client takes for a server's.
package final class TLSAuthorities: Sendable {
    package let context: TLSContext

    /// - Parameter file: PEM; `nil` = those that the system trusts.
    package init(file: String?) throws(TLSError) {
        context = try TLSContext(authorities: file)
    }
}

/// An `SSL_CTX`.
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
            // Without a name for them, OpenSSL refuses each client that resumes a session.
            let sessions = Array("data-gateway".utf8)
            SSL_CTX_set_session_id_context(handle, sessions, UInt32(sessions.count))
        }
        SSL_CTX_set_alpn_select_cb(
            handle,
            { _, selected, selectedCount, offered, offeredCount, _ in
                // Whoever speaks no h2 here has nothing to say.
                tls_select_h2(selected, selectedCount, offered, offeredCount)
            }, nil)
    }

    /// A client's.
    init(authorities file: String?) throws(TLSError) {
        ERR_clear_error()
        guard let handle = SSL_CTX_new(TLS_client_method()) else { throw TLSError("OpenSSL has no memory for TLS") }
        self.handle = handle
        tls_harden(handle)
        let loaded =
            file.map { SSL_CTX_load_verify_locations(handle, $0, nil) } ?? SSL_CTX_set_default_verify_paths(handle)
        guard loaded == 1 else { throw TLSError("the authorities in \(file ?? "the system's store") cannot be used") }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        let h2: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
        SSL_CTX_set_alpn_protos(handle, h2, UInt32(h2.count))
    }

    deinit {
        SSL_CTX_free(handle)
    }
}
