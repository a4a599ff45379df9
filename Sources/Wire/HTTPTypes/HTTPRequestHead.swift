package import Basics
package import Crypto

/// The connection of a request.
package struct HTTPRequestOrigin: Sendable, Hashable {
    /// The socket's numeric peer address, without port; empty if it is unknown.
    package let peer: String
    /// Whether the connection has TLS.
    package let isSecure: Bool
    /// The connection's socket, only for checking whether the client is still connected; -1 without a socket.
    package let socket: Int32

    package init(peer: String, isSecure: Bool = false, socket: Int32 = -1) {
        self.peer = peer
        self.isSecure = isSecure
        self.socket = socket
    }
}

/// A request whose header has arrived and passed ``RequestValidator``; its body has not been read.
package struct HTTPRequestHead: Sendable {
    /// The delimitation of the body (RFC 9112, section 6.3).
    package enum Framing: Sendable, Equatable {
        case none
        case length(Int64)
        case chunked

        /// The longest body that a request may declare: 256 TiB, more than any disk here holds. Sums of declared lengths, sizes and
        /// positions stay far below `Int64.max`.
        package static let longestBody: Int64 = 1 << 48
    }

    package let method: String
    /// The request target exactly as sent, without any decoding.
    package let target: String
    package let fields: HTTPFields
    package let framing: Framing
    package let origin: HTTPRequestOrigin
    /// The request's identifier in logs and in the response: the client's `x-request-id` if that is well-formed.
    package let requestID: String
    /// The position in the client's trace (`traceparent`); `nil` if the client sent none.
    package let trace: TraceContext?
    /// Notes that the request's handler fills in.
    package let notes = HTTPRequestNotes()

    package init(
        method: String, target: String, fields: HTTPFields, framing: Framing, origin: HTTPRequestOrigin
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.framing = framing
        self.origin = origin
        requestID = (fields["x-request-id"].flatMap { RequestID.accepted($0.utf8) } ?? RequestID.make()).description
        let traces = fields.values(of: "traceparent")
        // With two values, it is unknown which one is right.
        trace = traces.count == 1 ? TraceContext(traceparent: traces[0].utf8) : nil
    }

    package var peer: String { origin.peer }
    package var isSecure: Bool { origin.isSecure }
    package var socket: Int32 { origin.socket }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
    package var expectsContinue: Bool {
        fields["expect"]?.lowercased() == "100-continue"
    }
}

/// A handler's notes on a request for log and metrics.
///
/// Sendable although it is mutable: only the thread of the request's connection uses it.
package final class HTTPRequestNotes: @unchecked Sendable {  // used by its connection's thread alone
    /// Whether the request is a call of an `RPCServer`, which counts and logs it itself.
    package var isCall = false
    /// The operation, one of a small set of words, e.g. `UploadPart`.
    package var operation: String?
    /// The protocol on top of HTTP, e.g. `oss`.
    package var dialect: String?
    /// The caller's name in the log.
    package var principal: String?
    /// The target of the operation, e.g. `uploads/ID`.
    package var target: String?
    /// The object that a copy is made of, `BUCKET/KEY`.
    package var source: String?
    /// Waits until the server may work for a party; see ``works(for:)``.
    package var onOwner: ((WorkOwner) -> Void)?

    /// Notes that the caller is known: from now on the request counts for them instead of their address, and may have to wait.
    package func works(for owner: WorkOwner) { onOwner?(owner) }
}
