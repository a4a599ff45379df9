import Crypto

/// The connection that a request came by.
package struct HTTPRequestOrigin: Sendable, Hashable {
    /// The socket's numeric peer address, without port; empty where the system did not tell it.
    package let peer: String
    /// Whether the connection has TLS.
    package let isSecure: Bool
    /// The connection's socket, only to see whether the client is still there; -1 where there is none.
    package let socket: Int32

    package init(peer: String, isSecure: Bool = false, socket: Int32 = -1) {
        self.peer = peer
        self.isSecure = isSecure
        self.socket = socket
    }
}

/// A request as it stands when its header has arrived and has passed ``RequestValidator``; its body has not been read.
package struct HTTPRequestHead: Sendable {
    /// How the body that follows is delimited (RFC 9112, section 6.3).
    package enum Framing: Sendable, Equatable {
        case none
        case length(Int64)
        case chunked
    }

    package let method: String
    /// The request target exactly as it was sent: nothing is decoded.
    package let target: String
    package let fields: HTTPFields
    package let framing: Framing
    package let origin: HTTPRequestOrigin
    /// Its name in logs, which the answer tells: the client's own `x-request-id`, where that is well-formed.
    package let requestID: String
    /// Which step of the client's trace it is (`traceparent`); `nil` where it told none.
    package let trace: TraceContext?
    /// For who handles it to fill in.
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
        // Of two, nobody knows which is right.
        trace = traces.count == 1 ? TraceContext(traceparent: traces[0].utf8) : nil
    }

    package var peer: String { origin.peer }
    package var isSecure: Bool { origin.isSecure }
    package var socket: Int32 { origin.socket }

    /// The client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
    package var expectsContinue: Bool {
        fields["expect"]?.lowercased() == "100-continue"
    }
}
