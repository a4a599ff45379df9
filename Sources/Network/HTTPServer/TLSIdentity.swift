import CMicrohttpd
import COpenSSL
package import Sockets

/// The certificate and key of a ``TLSContext`` in GnuTLS's form, for libmicrohttpd. They are taken from OpenSSL, so that every
/// listener uses files that were read and checked once.
package final class TLSIdentity: Sendable {
    /// Set up by `init`, then only read; GnuTLS may sign with a key from any number of threads.
    nonisolated(unsafe) let pointer = UnsafeMutablePointer<microhttpd_identity>.allocate(capacity: 1)  // only read

    /// Makes the companion of ``TLSCertificates``.
    package static func companion(_ context: TLSContext) throws(TLSError) -> any Sendable { try TLSIdentity(context) }

    init(_ context: TLSContext) throws(TLSError) {
        let certificates = context.certificates
        let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(capacity: certificates.count)
        chain.initialize(repeating: gnutls_pcert_st(), count: certificates.count)
        pointer.initialize(to: microhttpd_identity(chain: chain, count: UInt32(certificates.count), key: nil))
        for (place, certificate) in certificates.enumerated() {
            try Self.check("certificate") {
                Self.withDatum(certificate) { gnutls_pcert_import_x509_raw(chain + place, $0, GNUTLS_X509_FMT_DER, 0) }
            }
        }
        try Self.check("private key") {
            let status = gnutls_privkey_init(&pointer.pointee.key)
            guard status == 0 else { return status }
            return Self.withDatum(context.privateKey) {
                gnutls_privkey_import_x509_raw(pointer.pointee.key, $0, GNUTLS_X509_FMT_DER, nil, 0)
            }
        }
    }

    deinit {
        let chain = UnsafeMutableBufferPointer(start: pointer.pointee.chain, count: Int(pointer.pointee.count))
        for place in chain.indices { gnutls_pcert_deinit(chain.baseAddress.map { $0 + place }) }
        chain.deallocate()
        gnutls_privkey_deinit(pointer.pointee.key)
        pointer.deallocate()
    }

    private static func check(_ what: String, _ load: () -> Int32) throws(TLSError) {
        let status = load()
        guard status < 0 else { return }
        throw TLSError("GnuTLS cannot use the \(what) (\(gnutls_strerror(status).map { String(cString: $0) } ?? ""))")
    }

    private static func withDatum(_ bytes: [UInt8], _ load: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
        var bytes = bytes
        return bytes.withUnsafeMutableBufferPointer {
            var datum = gnutls_datum_t(data: $0.baseAddress, size: UInt32($0.count))
            return load(&datum)
        }
    }
}

extension TLSCertificates {
    /// The identity that a new connection uses until its end.
    var identity: TLSIdentity {
        guard let identity = companion as? TLSIdentity else {
            preconditionFailure("certificates for an HTTP server are made with TLSIdentity.companion")
        }
        return identity
    }
}

extension TLSContext {
    /// The certificate chain in DER, the server's own certificate first.
    fileprivate var certificates: [[UInt8]] {
        var chain: [[UInt8]] = []
        while let certificate = encoded({ tls_chain_certificate(handle, Int32(chain.count), $0) }) {
            chain.append(certificate)
        }
        return chain
    }

    /// The private key as PKCS #8 in DER.
    fileprivate var privateKey: [UInt8] {
        SSL_CTX_get0_privatekey(handle).flatMap { key in encoded { ossl_pkcs8(key, $0) } } ?? []
    }

    private func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = encode(&bytes)
        defer { ossl_free(bytes) }
        guard let bytes, count > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
