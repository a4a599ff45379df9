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

/// Provides the body of a response piece by piece, on the thread of the connection.
package protocol HTTPBodySource: AnyObject {
    /// Whether bytes of the body are in files, from which the kernel can send them. Asked before the first byte is read.
    var hasFiles: Bool { get }
    /// Waits for the next bytes, at most as many as `buffer` holds.
    ///
    /// - Parameter passesFiles: whether bytes that are in a file are returned as its range.
    /// - Returns: the bytes, whose number is 0 at the end; `nil` if the body cannot be completed, which the client can detect.
    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) -> HTTPBodyPiece?
    /// Handles that the bytes of the latest piece, a range of a file, cannot be read. Nothing is read afterwards.
    func fileFailed()
    /// Handles the end of reading; called once, also after the last byte.
    func close()
}

/// The next bytes of a body.
package enum HTTPBodyPiece: Sendable {
    /// This number of bytes is in the buffer.
    case buffered(Int)
    /// The bytes are a range of this file.
    case file(HTTPFile, offset: Int64, count: Int)

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .buffered(let count), .file(_, _, let count): count
        }
    }
}
