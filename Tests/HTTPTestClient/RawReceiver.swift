import Basics
import Foundation
import Synchronization

/// An HTTP/1.1 server that keeps the bytes of each request, answers each with 204, and never sends `100 Continue`. Each connection has
/// a thread of its own.
public final class RawReceiver: Sendable {
    public struct Request: Sendable {
        /// The request line and the header fields.
        public let head: String
        public let body: [UInt8]
    }

    private final class Received: Sendable {
        let requests = Lock<[Request]>([])
    }

    private let server: RawServer
    private let received: Received

    /// - Parameters:
    ///   - answering: called on the connection's thread before the answer to a request.
    ///   - closing: returns whether a request's connection is closed instead of an answer.
    public init(
        _ answering: @escaping @Sendable (Request) -> Void = { _ in },
        closing: @escaping @Sendable (Request) -> Bool = { _ in false }
    ) throws {
        let received = Received()
        self.received = received
        server = try RawServer { peer in
            while true {
                let request = try Self.next(peer)
                received.requests.withLock { $0.append(request) }
                if closing(request) { break }
                answering(request)
                try peer.send("HTTP/1.1 204 No Content\r\n\r\n")
            }
        }
    }

    public var port: UInt16 { server.port }

    /// The number of connections so far.
    public var accepted: Int { server.accepted }

    /// The requests so far, in the order in which their bodies were complete.
    public var requests: [Request] { received.requests.withLock { $0 } }

    /// Ends all connections.
    public func stop() { server.stop() }

    private static func next(_ peer: RawPeer) throws -> Request {
        let head = try peer.head()
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        let body = peer.body(length ?? 0)
        guard body.count == length ?? 0 else { throw RawPeer.Failure.ended }
        return Request(head: head, body: body)
    }
}
