import EventLoops
import Glibc
import HTTPTypes
import RPC
import TestSupport
import Testing
import Wire

/// A socket that listens on a free port but never accepts.
private final class SilentListener {
    let port: Int
    private let descriptor: Int32
    private var waiting: [Int32] = []

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = descriptor
        let status = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { name -> Int32 in
                bind(listener, name.baseAddress, size) | listen(listener, 0)
                    | getsockname(listener, name.baseAddress, &size)
            }
        }
        try #require(status == 0)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        for descriptor in waiting + [descriptor] { close(descriptor) }
    }

    /// Fills its queue, so that the system does not respond to further clients.
    func fill() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        for _ in 0..<3 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            waiting.append(client)
            _ = withUnsafeBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { name in
                    connect(client, name.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
}

@Suite(.timeLimited) struct RPCChannelTests {
    private func failure(_ address: PeerAddress, timeout: Duration) async -> GRPCStatus? {
        let loop = EventLoop(name: "client")
        defer { loop.stop() }
        do {
            try await RPCChannel.connect(to: address, loop: loop, timeout: timeout).close()
            return nil
        } catch {
            return error as? GRPCStatus
        }
    }

    @Test func aPortThatNobodyListensAt() async throws {
        let port = try SilentListener().port
        let status = await failure(PeerAddress(host: "127.0.0.1", port: port), timeout: .seconds(60))
        #expect(status == GRPCStatus(.unavailable, "cannot reach 127.0.0.1:\(port): connection refused"))
    }

    @Test func aHostThatDoesNotAnswer() async throws {
        let listener = try SilentListener()
        listener.fill()
        let address = PeerAddress(host: "127.0.0.1", port: listener.port)
        let status = await failure(address, timeout: .milliseconds(50))
        #expect(status == GRPCStatus(.unavailable, "cannot reach \(address): connection timed out"))
    }
}
