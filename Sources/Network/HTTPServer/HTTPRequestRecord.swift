package import Crypto
package import HTTPTypes

/// The outcome of a request, for logs and metrics. It contains no query and no header fields, which may be secret.
package struct HTTPRequestRecord: Sendable {
    package let method: String
    /// At most 1024 characters of the path.
    package let path: String
    package let peer: String
    package let requestID: String
    package let trace: TraceContext?
    /// The status of the response; `nil` if no response was sent.
    package internal(set) var status: Int?
    /// The bytes of the bodies.
    package internal(set) var bytesReceived: Int64 = 0
    package internal(set) var bytesSent: Int64 = 0
    /// The time from the header's arrival to the response's last byte.
    package internal(set) var duration = Duration.zero
    /// Whether the complete response was sent.
    package internal(set) var isWhole = false
    /// The notes of the request's handler.
    package let notes: HTTPRequestNotes
}

/// Observes the end of every request of a daemon, on the thread of its connection.
package protocol HTTPObserver: Sendable {
    func ended(_ request: HTTPRequestRecord)
}
