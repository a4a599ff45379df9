/// Handles the requests of an ``HTTPDaemon``, on the thread of the connection, which it may block.
package protocol HTTPRequestHandler: Sendable {
    /// Decides on a request whose header has arrived; no byte of the body has been read and `100 Continue` was not sent.
    func begin(_ head: HTTPRequestHead) -> HTTPDisposition
}

package enum HTTPDisposition {
    /// Send this response without reading the body.
    case respond(HTTPResponse)
    /// Read the body into a sink, which then returns the response.
    case receive(any HTTPBodySink)
}

/// Receives the body of one request, piece by piece, on the thread of its connection.
///
/// A sink that fails before the end reports the failure in ``finish()``: a client that is still sending could not read an earlier
/// response.
package protocol HTTPBodySink: AnyObject {
    func receive(_ bytes: UnsafeRawBufferPointer)
    /// Whether the response is known before the body is complete; a bounded rest of the body is then read and dropped.
    var isAnswered: Bool { get }
    /// Whether the body may take longer than the server's time for bodies, because it is bulk data; the least rate holds for it.
    var isBulk: Bool { get }
    /// Handles the end of the body and returns the response.
    func finish() -> HTTPResponse
    /// Handles the end of the connection before the end of the body; no response can be sent.
    func abandon()
}

extension HTTPBodySink {
    package var isAnswered: Bool { false }
    package var isBulk: Bool { false }
}

/// Provides the body of a response whose length is not known in advance, piece by piece, on the thread of the connection.
package protocol HTTPBodySource: AnyObject {
    /// Waits for the next bytes, at most as many as `buffer` holds.
    ///
    /// - Returns: the number of bytes; 0 at the end; `nil` if the body cannot be completed, which the client can detect.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
    /// Handles the end of reading; called once, also after the last byte.
    func close()
}
