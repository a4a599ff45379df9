/// What answers the requests of an ``HTTPDaemon``. Called on the thread of the connection, which it may block.
package protocol HTTPRequestHandler: Sendable {
    /// The header of a request has arrived, no byte of its body has been read, and `100 Continue` was not sent.
    func begin(_ head: HTTPRequestHead) -> HTTPDisposition
}

package enum HTTPDisposition {
    /// Answer, and do not look at the body.
    case respond(HTTPResponse)
    /// Read the body into a sink, which then gives the answer.
    case receive(any HTTPBodySink)
}

/// Takes the body of one request, piece by piece, on the thread of its connection.
///
/// A sink that fails half way keeps the failure to itself and answers it in ``finish()``: a client that is still
/// sending could not read an answer sent earlier.
package protocol HTTPBodySink: AnyObject {
    func receive(_ bytes: UnsafeRawBufferPointer)
    /// Whether the answer is known before the body is complete: a bounded rest of it is read and dropped then.
    var isAnswered: Bool { get }
    /// The body is complete.
    func finish() -> HTTPResponse
    /// The connection ended before the body did; no answer can be sent.
    func abandon()
}

extension HTTPBodySink {
    package var isAnswered: Bool { false }
}

/// Gives the body of an answer whose length is not known yet, piece by piece, on the thread of the connection.
package protocol HTTPBodySource: AnyObject {
    /// Waits for the next bytes, at most as many as `buffer` has room for.
    ///
    /// - Returns: how many there were; 0 at the end; `nil` when the answer breaks off, which the client sees.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
    /// The reader has left; called once, also after the end.
    func close()
}
