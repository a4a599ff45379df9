import EventLoops
import Glibc
import HTTPTypes
import RPC
import TestSupport
import Testing
import Wire

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
        let free = try FreePort.any()
        defer { withExtendedLifetime(free) {} }
        let address = PeerAddress(host: "127.0.0.1", port: Int(free.port))
        let status = await failure(address, timeout: .seconds(60))
        #expect(status == GRPCStatus(.unavailable, "cannot reach \(address): connection refused"))
    }

    @Test func aHostThatDoesNotAnswer() async throws {
        let silent = try FreePort.any()
        defer { withExtendedLifetime(silent) {} }
        try silent.listen(queue: 0)
        // These fill the queue, so that the system does not respond to further clients.
        let waiting = (0..<3).map { _ in FreePort.connecting(to: silent.port) }
        defer { for descriptor in waiting { close(descriptor) } }
        let address = PeerAddress(host: "127.0.0.1", port: Int(silent.port))
        let status = await failure(address, timeout: .milliseconds(50))
        #expect(status == GRPCStatus(.unavailable, "cannot reach \(address): connection timed out"))
    }
}
