import Crypto
import HTTPTypes

/// What became of a request: for logs and metrics. No query is in it, nor any field: those may hold what is secret.
package struct HTTPRequestRecord: Sendable {
    package let method: String
    /// At most 1024 characters of it.
    package let path: String
    package let peer: String
    package let requestID: String
    package let trace: TraceContext?
    /// The status of the answer; `nil` where there was none.
    package internal(set) var status: Int?
    /// Bytes of the bodies.
    package internal(set) var bytesReceived: Int64 = 0
    package internal(set) var bytesSent: Int64 = 0
    /// From the header's arrival to the answer's last byte.
    package internal(set) var duration = Duration.zero
    /// Whether all of the answer was sent.
    package internal(set) var isWhole = false
    /// What its handler said of it.
    package let notes: HTTPRequestNotes
}

/// Told of every request of a daemon when it is over, on the thread of its connection.
package protocol HTTPObserver: Sendable {
    func ended(_ request: HTTPRequestRecord)
}
