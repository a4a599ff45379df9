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

/// What a handler says of a request, as it finds it out.
///
/// Sendable although it has state: that is touched on the thread of the request's connection only.
public final class HTTPRequestNotes: @unchecked Sendable {
    /// The request is a call of a `RPCServer`, where it is counted and logged.
    public var isCall = false
    /// What was asked for, as one of a few words, e.g. `UploadPart`.
    public var operation: String?
    /// In which protocol on top of HTTP, e.g. `oss`.
    public var dialect: String?
    /// Who asked, as the log names them.
    public var principal: String?
    /// What it was about, e.g. `uploads/ID`.
    public var target: String?
}

/// Told of every request of a daemon when it is over, on the thread of its connection.
public protocol HTTPObserver: Sendable {
    func ended(_ request: HTTPRequestRecord)
}
