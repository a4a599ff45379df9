import COpenSSL
import RPC
import Sockets

/// Buffers for one TLS record in each direction, shared by the connections of a loop: contents are used before the next call.
final class TLSScratch {
    fileprivate let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
    fileprivate let ciphertext = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 * 1024, alignment: 16)

    deinit {
        plaintext.deallocate()
        ciphertext.deallocate()
    }
}

/// TLS around another protocol: encrypts its output, and decrypts input for it. Works without a socket.
final class TLSConnection: ConnectionProtocol {
    private let inner: any ConnectionProtocol
    private let ssl: OpaquePointer
    /// The received ciphertext and the ciphertext to be sent; both buffers belong to `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let scratch: TLSScratch
    /// The host for which a server's certificate must be; empty on the server's side.
    private let host: String
    private var isOpen = false
    private var sentCloseNotify = false

    var onOutput: () -> Void {
        get { inner.onOutput }
        set { inner.onOutput = newValue }
    }

    var onSpace: () -> Void {
        get { inner.onSpace }
        set { inner.onSpace = newValue }
    }

    var lane: Lane { inner.lane }

    var receivesWhileSending: Bool { inner.receivesWhileSending }

    /// Makes the server's side.
    convenience init(_ inner: any ConnectionProtocol, context: TLSContext, scratch: TLSScratch) {
        self.init(inner, context, host: "", scratch)
        SSL_set_accept_state(ssl)
    }

    /// Makes the client's side: the server must present a certificate for `host`.
    convenience init(_ inner: any ConnectionProtocol, authorities: TLSAuthorities, host: String, scratch: TLSScratch) {
        self.init(inner, authorities.context, host: host, scratch)
        tls_expect_host(ssl, host)
        SSL_set_connect_state(ssl)
    }

    private init(
        _ inner: any ConnectionProtocol, _ context: TLSContext, host: String, _ scratch: TLSScratch
    ) {
        self.inner = inner
        self.host = host
        self.scratch = scratch
        guard let ssl = SSL_new(context.handle), let incoming = BIO_new(BIO_s_mem()),
            let outgoing = BIO_new(BIO_s_mem())
        else { preconditionFailure("OpenSSL has no memory for a connection") }
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        SSL_set_bio(ssl, incoming, outgoing)
    }

    deinit {
        SSL_free(ssl)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) -> Reception {
        ERR_clear_error()
        guard BIO_write(incoming, bytes.baseAddress, Int32(bytes.count)) == bytes.count else {
            throw ConnectionError("OpenSSL has no memory for received bytes")
        }
        if !isOpen {
            guard try shakeHands() else { return .complete }
        }
        return try receiveRecords()
    }

    func continueReceiving() throws(ConnectionError) -> Reception {
        let reception = try inner.continueReceiving()
        return reception == .complete ? try receiveRecords() : reception
    }

    /// Decrypts the received records for the inner protocol. Those that it does not receive now stay in OpenSSL's buffer.
    private func receiveRecords() throws(ConnectionError) -> Reception {
        let plaintext = scratch.plaintext
        while true {
            // An error that a handler left in the thread's queue would be taken for an error of this connection.
            ERR_clear_error()
            let count = SSL_read(ssl, plaintext.baseAddress, Int32(plaintext.count))
            guard count > 0 else {
                if SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ { return .complete }
                throw ConnectionError("the TLS connection ended")
            }
            let reception = try inner.receive(UnsafeRawBufferPointer(rebasing: plaintext[..<Int(count)]))
            if reception != .complete { return reception }
        }
    }

    /// - Returns: whether the handshake is complete.
    private func shakeHands() throws(ConnectionError) -> Bool {
        let status = SSL_do_handshake(ssl)
        onOutput()
        if status == 1 {
            guard tls_speaks_h2(ssl) == 1 else { throw ConnectionError("the peer did not select h2 by ALPN") }
            isOpen = true
            if let subject = tls_peer_subject(ssl) {
                inner.clientProved(certificate: String(cString: subject))
                ossl_free(subject)
            }
            return true
        }
        guard SSL_get_error(ssl, status) == SSL_ERROR_WANT_READ else {
            throw ConnectionError(TLSError(failedHandshake: ssl, host: host).description)
        }
        return false
    }

    func nextOutput() throws(ConnectionError) -> UnsafeRawBufferPointer? {
        // In TLS the client sends first.
        if !isOpen, SSL_is_server(ssl) == 0, SSL_in_before(ssl) == 1 { _ = try shakeHands() }
        if isOpen, BIO_ctrl_pending(outgoing) == 0 {
            ERR_clear_error()
            if try !sealOutput(), !sentCloseNotify, inner.isFinished {
                // close_notify tells the peer that nothing was cut off (RFC 8446, section 6.1).
                sentCloseNotify = true
                SSL_shutdown(ssl)
            }
        }
        guard BIO_ctrl_pending(outgoing) > 0 else { return nil }
        let count = BIO_read(outgoing, scratch.ciphertext.baseAddress, Int32(scratch.ciphertext.count))
        return count > 0 ? UnsafeRawBufferPointer(rebasing: scratch.ciphertext[..<Int(count)]) : nil
    }

    /// Combines the inner protocol's output into records of full length, since each record costs an encryption.
    ///
    /// - Returns: whether there was output.
    private func sealOutput() throws(ConnectionError) -> Bool {
        let plaintext = scratch.plaintext
        var filled = 0
        while let bytes = try inner.nextOutput() {
            if filled + bytes.count > plaintext.count {
                try seal(UnsafeRawBufferPointer(rebasing: plaintext[..<filled]))
                try seal(bytes)
                return true
            }
            UnsafeMutableRawBufferPointer(rebasing: plaintext[filled...]).copyMemory(from: bytes)
            filled += bytes.count
        }
        try seal(UnsafeRawBufferPointer(rebasing: plaintext[..<filled]))
        return filled > 0
    }

    /// Encrypts bytes into a memory buffer, which always accepts all of them.
    private func seal(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) {
        guard !bytes.isEmpty else { return }
        guard SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)) == bytes.count else {
            throw ConnectionError("the TLS connection accepts no more bytes")
        }
    }

    var isFinished: Bool { inner.isFinished && BIO_ctrl_pending(outgoing) == 0 }

    var isAborted: Bool { inner.isAborted }

    func socketBlocked(_ isBlocked: Bool) { inner.socketBlocked(isBlocked) }

    func shutDown() { inner.shutDown() }

    func stop() { inner.stop() }

    func connectionLost(_ reason: ConnectionError?) { inner.connectionLost(reason) }
}
