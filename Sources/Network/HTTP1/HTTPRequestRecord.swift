import HTTPTypes
import Platform

/// What became of a request: for logs and metrics. No query is in it, nor any field: those may hold what is secret.
public struct HTTPRequestRecord: Sendable {
    public let method: String
    /// At most 1024 characters of it.
    public let path: String
    public let peer: String
    public let requestID: String
    public let trace: TraceContext?
    /// Of the answer; `nil` where there was none.
    public internal(set) var status: Int?
    /// Of the bodies.
    public internal(set) var bytesReceived: Int64 = 0
    public internal(set) var bytesSent: Int64 = 0
    /// From the header's arrival to the answer's last byte.
    public internal(set) var duration = Duration.zero
    /// Whether all of the answer was sent.
    public internal(set) var isWhole = false
    /// What its handler said of it.
    public let notes: HTTPRequestNotes
}

/// Told of every request of a daemon when it is over, on the thread of its connection.
public protocol HTTPObserver: Sendable {
    func ended(_ request: HTTPRequestRecord)
}
