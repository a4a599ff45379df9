import Basics
package import HTTPTypes

/// Receives a response's body while it arrives. The sender waits meanwhile.
package struct HTTPReceiver: Sendable {
    /// Called once, before the body: returns whether `receive` gets it. Otherwise the body is kept for the reply.
    private let wants: @Sendable (_ status: Int, _ fields: HTTPFields) throws -> Bool
    private let receive: @Sendable (UnsafeRawBufferPointer) throws -> Void

    /// - Parameters: both functions may throw, which ends the exchange with their error. They may block.
    package init(
        wants: @escaping @Sendable (_ status: Int, _ fields: HTTPFields) throws -> Bool,
        receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.wants = wants
        self.receive = receive
    }

    /// Passes the pieces of the response, each when `limit` permits it.
    func takeResponse(of transfer: Transfer, limit: RateLimit?) async throws -> HTTPReply {
        let head = try await transfer.responseHead()
        let isWanted = try await Worker.disk.run { try wants(head.status, head.fields) }
        var kept = KeptBody()
        while true {
            let piece = try await transfer.read(atMost: Transfer.window)
            guard !piece.isEmpty else { break }
            guard isWanted else {
                try piece.withUnsafeBytes { try kept.add($0, status: head.status) }
                continue
            }
            if let limit {
                var rest = piece.count
                while rest > 0, !transfer.isCanceled { rest -= await limit.take(rest) { transfer.isCanceled } }
            }
            try await Worker.disk.run { try piece.withUnsafeBytes(receive) }
        }
        let reply = try await transfer.reply()
        return HTTPReply(status: reply.status, fields: reply.fields, body: kept.bytes)
    }
}
