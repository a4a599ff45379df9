import HTTP2

/// The reason for the end of a connection, for logs; the peer was told in the terms of the protocol.
package struct ConnectionError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The result of receiving bytes.
package enum Reception {
    /// All of them were processed.
    case complete
    /// The rest is kept, because the turn is over: `continueReceiving` has to be called in a later turn of the lane.
    case turnIsOver
    /// The rest is kept, because the connection has too many calls that wait for their turn: `onSpace` is called when it may continue.
    case queueIsFull
}

/// The protocol of a connection: receives the socket's bytes and returns those to be sent.
package protocol ConnectionProtocol: AnyObject {
    /// Set by the transport: called when `nextOutput` has something to send.
    var onOutput: () -> Void { get set }

    /// Set by the transport: called when `continueReceiving` may be called after ``Reception/queueIsFull``.
    var onSpace: () -> Void { get set }

    /// The lane in whose turns the connection receives and sends.
    var lane: Lane { get }

    /// Whether bytes are received while others wait for space in the socket. A server then receives none, because its client does not
    /// read; a client that did the same would wait forever for a server that waits for it.
    var receivesWhileSending: Bool { get }

    /// Processes received bytes. After another result than ``Reception/complete``, `continueReceiving` has to be called first.
    ///
    /// - Throws: if the peer violated the protocol; the remaining bytes of `nextOutput` are sent, then the socket is closed.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) -> Reception

    /// Processes bytes that were kept.
    func continueReceiving() throws(ConnectionError) -> Reception

    /// Returns the next bytes to send, valid until the next call; `nil` when nothing is to be sent.
    func nextOutput() throws(ConnectionError) -> UnsafeRawBufferPointer?

    /// Whether nothing more will be received or sent.
    var isFinished: Bool { get }

    /// Whether the socket must be closed at once, even if bytes are waiting.
    var isAborted: Bool { get }

    /// Called when the TLS handshake has shown that the client has a certificate that this server trusts.
    ///
    /// - Parameter subject: the certificate's, in the form of RFC 2253.
    func clientProved(certificate subject: String)

    /// Reports whether bytes to be sent are waiting for space in the socket.
    func socketBlocked(_ isBlocked: Bool)

    /// Begins an orderly end: calls in progress continue, new ones are not accepted.
    func shutDown()

    /// Ends the connection because the server stops: calls that wait for their turn end, and those that make no progress do soon.
    /// Called in a turn of the lane.
    func stop()

    /// Reports that the socket was closed.
    ///
    /// - Parameter reason: the error of `receive` or `nextOutput`, if that was the cause.
    func connectionLost(_ reason: ConnectionError?)
}

extension ConnectionProtocol {
    package var receivesWhileSending: Bool { false }

    package func clientProved(certificate subject: String) {}

    package func stop() { shutDown() }
}

extension HTTP2Session {
    /// Returns the next bytes to send, as ``ConnectionProtocol/nextOutput()`` does.
    func connectionOutput() throws(ConnectionError) -> UnsafeRawBufferPointer? {
        do {
            return try nextOutput()
        } catch {
            throw ConnectionError(error.description)
        }
    }
}
