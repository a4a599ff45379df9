/// A request whose body its caller writes in pieces, when it has them.
///
/// The request is sent once: neither a lost connection nor a redirect makes the client send it again. Before ``finish()``, the server
/// never has the complete body, so that an upload that is canceled or dropped stores nothing.
package final class HTTPUpload: Sendable {
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The server answered before the end of the body: ``HTTPUpload/finish()`` returns its response.
        case answered
        /// The body is not as long as declared.
        case size(declared: Int64, written: Int64)

        package var description: String {
            switch self {
            case .answered: "the server answered before the end of the body"
            case .size(let declared, let written): "the body has \(written) bytes instead of \(declared)"
            }
        }
    }

    private let connection: HTTPConnection
    private let transfer: Transfer
    private let size: Int64

    fileprivate init(_ connection: HTTPConnection, _ transfer: Transfer, size: Int64) {
        self.connection = connection
        self.transfer = transfer
        self.size = size
    }

    deinit {
        transfer.cancel()
    }

    /// Writes the next bytes, and waits until at most 128 KiB of all that was written are not yet sent. Called by one task at a time.
    ///
    /// - Throws: ``Failure``; `TransferFailure`; `CancellationError`. Then the upload is over.
    package func write(_ bytes: [UInt8]) async throws {
        try check(adding: bytes.count)
        try await withTaskCancellationHandler {
            try await transfer.write(bytes)
        } onCancel: {
            cancel()
        }
    }

    /// Writes the next bytes like ``write(_:)``, but blocks this thread.
    package func writeBlocking(_ bytes: UnsafeRawBufferPointer) throws {
        try check(adding: bytes.count)
        try transfer.writeBlocking(bytes)
    }

    /// Completes the body, and waits for the complete response, whatever its status.
    package func finish() async throws -> HTTPReply {
        try complete()
        return try await withTaskCancellationHandler {
            try await transfer.reply()
        } onCancel: {
            cancel()
        }
    }

    /// Completes the body like ``finish()``, but blocks this thread.
    package func finishBlocking() throws -> HTTPReply {
        try complete()
        return try transfer.replyBlocking()
    }

    /// Closes the connection at once, unless the response was received.
    package func cancel() { transfer.cancel() }

    private func check(adding count: Int) throws(Failure) {
        let written = transfer.written + Int64(count)
        guard written > size, !transfer.isOver else { return }
        let failure = Failure.size(declared: size, written: written)
        transfer.cancel(failure)
        throw failure
    }

    private func complete() throws(Failure) {
        // A request without a body is complete with its header section, so it begins only here.
        if size == 0 { return connection.begin(transfer) }
        let written = transfer.written
        guard written == size || transfer.isOver else {
            let failure = Failure.size(declared: size, written: written)
            transfer.cancel(failure)
            throw failure
        }
        transfer.complete()
    }
}

extension HTTPConnection {
    /// Begins a request with a body in pieces.
    ///
    /// - Parameters:
    ///   - request: neither GET nor HEAD; its own body is ignored.
    ///   - size: the number of bytes of the body, which the server is told.
    package func upload(_ request: HTTPRequest, size: Int64) -> HTTPUpload {
        let transfer = makeTransfer(request, Transfer.Mode(body: .written(size: size), isStreamed: true))
        if size > 0 { begin(transfer) }
        return HTTPUpload(self, transfer, size: size)
    }
}
