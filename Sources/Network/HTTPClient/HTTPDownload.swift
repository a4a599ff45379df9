package import HTTPTypes

/// A response whose body its caller reads in pieces. The server waits until the next one is read.
package final class HTTPDownload: Sendable {
    package let status: Int
    package let fields: HTTPFields
    private let transfer: Transfer

    fileprivate init(_ head: Transfer.Head, _ transfer: Transfer) {
        status = head.status
        fields = head.fields
        self.transfer = transfer
    }

    deinit {
        transfer.cancel()
    }

    /// Returns the next bytes of the body, at most 128 KiB; empty at its end. Called by one task at a time.
    ///
    /// - Throws: `TransferFailure`, also for a body that is shorter than announced; `CancellationError`.
    package func read() async throws -> [UInt8] {
        try await withTaskCancellationHandler {
            try await transfer.read(atMost: Transfer.window)
        } onCancel: {
            cancel()
        }
    }

    /// Reads the next bytes into the buffer, which is not empty, and blocks this thread meanwhile.
    ///
    /// - Returns: their number; 0 at the end of the body.
    package func readBlocking(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try transfer.readBlocking(into: buffer)
    }

    /// Returns the response with the rest of its body, of which as many bytes are kept as for ``HTTPConnection/exchange``.
    package func rest() async throws -> HTTPReply {
        var kept = KeptBody()
        while true {
            let piece = try await read()
            guard !piece.isEmpty else { return HTTPReply(status: status, fields: fields, body: kept.bytes) }
            try piece.withUnsafeBytes { try kept.add($0, status: status) }
        }
    }

    /// Closes the connection at once, unless the whole response has arrived.
    package func cancel() { transfer.cancel() }
}

extension HTTPConnection {
    /// Sends a request, and waits for the header section of its response.
    ///
    /// - Parameters:
    ///   - request: without a file as its body.
    ///   - reader: reads the body with ``HTTPDownload/readBlocking(into:)``. The request is sent, too, while its thread waits.
    package func download(_ request: HTTPRequest, by reader: HTTPBodyReader? = nil) async throws -> HTTPDownload {
        let transfer = beginDownload(request, reader)
        return try await withTaskCancellationHandler {
            HTTPDownload(try await transfer.responseHead(), transfer)
        } onCancel: {
            transfer.cancel()
        }
    }

    /// Sends a request like ``download(_:)``, but blocks this thread.
    package func downloadBlocking(_ request: HTTPRequest) throws -> HTTPDownload {
        let transfer = beginDownload(request, nil)
        return HTTPDownload(try transfer.responseHeadBlocking(), transfer)
    }

    private func beginDownload(_ request: HTTPRequest, _ reader: HTTPBodyReader?) -> Transfer {
        var mode = Transfer.Mode(isTaken: true, isStreamed: true)
        switch request.body {
        case .none: break
        case .bytes(let bytes): mode.body = .bytes(bytes)
        case .ranged: preconditionFailure("a download sends no file")
        }
        let transfer = makeTransfer(request, mode, by: reader?.loop)
        begin(transfer)
        return transfer
    }
}
