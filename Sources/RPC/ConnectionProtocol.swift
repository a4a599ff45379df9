/// Why a connection cannot go on. For logs; the peer was told by its protocol.
package struct ConnectionError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What speaks on a connection: takes the bytes that its socket received, gives those that it is to send.
package protocol ConnectionProtocol: AnyObject {
    /// Set by the transport: called when `nextOutput` will have something to give.
    var onOutput: () -> Void { get set }

    /// - Throws: when the peer broke the protocol; what `nextOutput` still gives is sent, then the socket is closed.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError)

    /// The next bytes to send, valid until the next call; `nil` when there are none now.
    func nextOutput() throws(ConnectionError) -> UnsafeRawBufferPointer?

    /// Nothing more will be received or sent.
    var isFinished: Bool { get }

    /// The socket is to be closed at once, whatever waits.
    var isAborted: Bool { get }

    /// The client has proved, by the transport, to have a certificate of whom this server trusts.
    ///
    /// - Parameter subject: the certificate's, as RFC 2253 writes it.
    func clientProved(certificate subject: String)

    /// Bytes that were given out wait for room in the socket, or do no longer.
    func socketBlocked(_ isBlocked: Bool)

    /// Begins an orderly end: calls under way go on, new ones are not taken.
    func shutDown()

    /// The socket is gone.
    ///
    /// - Parameter reason: what `receive` or `nextOutput` threw, if that was why.
    func connectionLost(_ reason: ConnectionError?)
}

extension ConnectionProtocol {
    package func clientProved(certificate subject: String) {}
}
