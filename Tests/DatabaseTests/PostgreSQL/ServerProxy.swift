import Basics
import DatabaseTesting
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Database

/// Forwards connections to the server of `DATABASE_URL`, and cuts them where a test says.
final class ServerProxy: Sendable {
    enum Cut: Sendable, Equatable {
        /// When the client has sent this text, which does not reach the server.
        case before(String)
        /// When the server has received this text, and before its answer is read.
        case after(String)
        /// Forwards nothing from the client any more, and closes nothing.
        case stalled
        /// Before or after the message with this number, counted from now on.
        case beforeMessage(Int)
        case afterMessage(Int)
    }

    private struct State {
        var cut: Cut?
        var cutCount = 0
        var messageCount = 0
        var receivedBytes = 0
        var isPooler = false
        var isClosed = false
    }

    private let folder: String
    private let listener: Int32
    private let state = Lock(State())

    /// - Parameter folder: a folder for the socket.
    init(in folder: String) throws {
        self.folder = folder
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(Self.withAddress("\(folder)/.s.PGSQL.5432") { bind(listener, $0, $1) } == 0)
        #expect(listen(listener, 16) == 0)
        let parameters = try PostgresServer(url: DatabaseEngine.url).parameters()
        let server = "\(parameters["host"] ?? "")/.s.PGSQL.\(parameters["port"] ?? "5432")"
        _ = TestThread { [self] in
            while let client = accepted() {
                let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                _ = Self.withAddress(server) { connect(upstream, $0, $1) }
                _ = TestThread { self.forward(client, upstream) }
            }
            Glibc.close(listener)
        }
    }

    /// The place of the database through the proxy.
    var url: String {
        let parameters = try? PostgresServer(url: DatabaseEngine.url).parameters()
        return "host=\(folder) user=\(parameters?["user"] ?? "") dbname=\(parameters?["dbname"] ?? "")"
    }

    /// The number of cut connections.
    var cutCount: Int { state.withLock { $0.cutCount } }

    /// The number of messages from clients, if the programs send a further one only after the answer.
    var messageCount: Int { state.withLock { $0.messageCount } }

    /// The number of bytes from the server.
    var receivedBytes: Int { state.withLock { $0.receivedBytes } }

    /// Cuts the next connection on which the text is sent.
    func cut(_ cut: Cut?) {
        state.withLock { state in
            state.cut = cut
            state.messageCount = 0
            state.cutCount = 0
        }
    }

    /// Names another server process to clients, as poolers do.
    func hideBackends() {
        state.withLock { $0.isPooler = true }
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func accepted() -> Int32? {
        while !isClosed {
            var descriptor = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, 20) > 0 { return accept(listener, nil, nil) }
        }
        return nil
    }

    private func forward(_ client: Int32, _ server: Int32) {
        defer {
            Glibc.close(client)
            Glibc.close(server)
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isClosed {
            let isStalled = state.withLock { $0.cut == .stalled }
            var descriptors = [
                pollfd(fd: isStalled ? -1 : client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, 20) > 0 else { continue }
            for (descriptor, other) in zip(descriptors, [server, client]) where descriptor.revents != 0 {
                let count = read(descriptor.fd, &buffer, buffer.count)
                guard count > 0 else { return }
                let cut = other == server ? cut(by: buffer[..<count]) : nil
                if other == client { receive(&buffer, count) }
                switch cut {
                case .before, .beforeMessage: return
                default: break
                }
                guard send(other, buffer, count, Int32(MSG_NOSIGNAL)) == count, cut == nil else { return }
            }
        }
    }

    private func receive(_ buffer: inout [UInt8], _ count: Int) {
        let isPooler = state.withLock { state in
            state.receivedBytes += count
            return state.isPooler
        }
        guard isPooler else { return }
        // The message BackendKeyData: its type, its length, the process.
        let start: [UInt8] = [UInt8(ascii: "K"), 0, 0, 0, 12]
        for index in 0..<max(0, count - 8) where buffer[index...].starts(with: start) { buffer[index + 8] ^= 1 }
    }

    private func cut(by bytes: ArraySlice<UInt8>) -> Cut? {
        state.withLock { state in
            state.messageCount += 1
            switch state.cut {
            case .beforeMessage(let number), .afterMessage(let number):
                guard state.messageCount == number else { return nil }
                defer { state.cut = nil }
                state.cutCount += 1
                return state.cut
            case .before(let text), .after(let text):
                guard String(decoding: bytes, as: UTF8.self).contains(text) else { return nil }
                defer { state.cut = nil }
                state.cutCount += 1
                return state.cut
            case .stalled, nil: return nil
            }
        }
    }

    private static func withAddress<T>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
