import Basics
import Foundation
import Glibc
import Synchronization
import TestSupport

/// An HTTP/1.1 server that keeps the bytes of each request, answers each with 204, and never sends `100 Continue`. Each connection has
/// a thread of its own.
public final class RawReceiver: Sendable {
    public struct Request: Sendable {
        /// The request line and the header fields.
        public let head: String
        public let body: [UInt8]
    }

    public enum Failure: Error {
        case listen(errno: Int32)
    }

    private struct State {
        var isStopped = false
        var open: [Int32] = []
        var accepted = 0
        var requests: [Request] = []
    }

    public let port: UInt16
    private let listener: Int32
    private let state = Lock(State())

    /// - Parameters:
    ///   - answering: called on the connection's thread before the answer to a request.
    ///   - closing: returns whether a request's connection is closed instead of an answer.
    public init(
        _ answering: @escaping @Sendable (Request) -> Void = { _ in },
        closing: @escaping @Sendable (Request) -> Bool = { _ in false }
    ) throws {
        (listener, port) = try RawServer.listen()
        _ = TestThread { [self] in
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { break }
                let isStopped = state.withLock { state in
                    state.accepted += 1
                    state.open.append(socket)
                    return state.isStopped
                }
                if isStopped { shutdown(socket, Int32(SHUT_RDWR)) }
                _ = TestThread { [self] in serve(socket, closing, answering) }
            }
            close(listener)
        }
    }

    /// The number of connections so far.
    public var accepted: Int { state.withLock { $0.accepted } }

    /// The requests so far, in the order in which their bodies were complete.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Ends all connections.
    public func stop() {
        let open = state.withLock { state in
            state.isStopped = true
            return state.open
        }
        for socket in open { shutdown(socket, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ socket: Int32, _ closing: (Request) -> Bool, _ answering: (Request) -> Void) {
        var held: [UInt8] = []
        while let request = next(socket, &held) {
            state.withLock { $0.requests.append(request) }
            if closing(request) { break }
            answering(request)
            let response = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
            guard send(socket, response, response.count, Int32(MSG_NOSIGNAL)) == response.count else { break }
        }
        state.withLock { $0.open.removeAll { $0 == socket } }
        close(socket)
    }

    private func next(_ socket: Int32, _ held: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = held.firstRange(of: end) {
                let head = String(decoding: held[..<range.lowerBound], as: UTF8.self)
                let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                let size = length ?? 0
                if held.count - range.upperBound >= size {
                    let body = Array(held[range.upperBound...].prefix(size))
                    held.removeFirst(range.upperBound + size)
                    return Request(head: head, body: body)
                }
            }
            var block = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(socket, &block, block.count, 0)
            guard count > 0 else { return nil }
            held += block[..<count]
        }
    }
}
