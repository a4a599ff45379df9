import Basics
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A server whose connections are handled by a test, each on a thread of its own.
public final class RawServer: Sendable {
    public enum Failure: Error {
        case listen(errno: Int32)
    }

    private struct State {
        var isStopped = false
        var open: [Int32] = []
        var accepted = 0
    }

    public let port: UInt16
    private let listener: Int32
    private let handles: Bool
    private let state = Lock(State())

    /// - Parameter handle: called for each connection, which is closed afterwards; `nil` = nothing is read or answered, so that
    ///   requests stall.
    public init(_ handle: (@Sendable (RawPeer) throws -> Void)?) throws {
        (listener, port) = try Self.listen()
        handles = handle != nil
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
                guard let handle else { continue }
                _ = TestThread { [self] in
                    try? handle(RawPeer(socket))
                    state.withLock { $0.open.removeAll { $0 == socket } }
                    close(socket)
                }
            }
            close(listener)
        }
    }

    public var url: String { "http://127.0.0.1:\(port)" }

    /// The number of connections so far.
    public var accepted: Int { state.withLock { $0.accepted } }

    /// Ends all connections.
    public func stop() {
        let open = state.withLock { state in
            state.isStopped = true
            return state.open
        }
        for socket in open { shutdown(socket, Int32(SHUT_RDWR)) }
        if !handles { for socket in open { close(socket) } }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Listens on a free port of this machine.
    private static func listen() throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && Glibc.listen(listener, 1024) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw Failure.listen(errno: errno) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// The server's side of a connection.
public final class RawPeer {
    public enum Failure: Error {
        case ended
    }

    private let socket: Int32
    private var held: [UInt8] = []

    init(_ socket: Int32) {
        self.socket = socket
    }

    /// Reads the next request line with the header fields.
    public func head() throws -> String {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = held.firstRange(of: end) {
                defer { held.removeFirst(range.upperBound) }
                return String(decoding: held[..<range.lowerBound], as: UTF8.self)
            }
            guard receive() else { throw Failure.ended }
        }
    }

    /// Reads bytes of a body: fewer if the client ends the connection before.
    public func body(_ count: Int) -> [UInt8] {
        while held.count < count, receive() {}
        defer { held.removeFirst(min(count, held.count)) }
        return Array(held.prefix(count))
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.ended }
            sent += count
        }
    }

    private func receive() -> Bool {
        var block = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &block, block.count, 0)
        guard count > 0 else { return false }
        held += block[..<count]
        return true
    }
}
