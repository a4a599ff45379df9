import Basics
import Foundation
import TestSupport
import Testing

@testable import Serve

@Suite(.timeLimited) struct ServiceManagerTests {
    @Test(arguments: [
        [:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "@"], ["NOTIFY_SOCKET": "relative"],
        ["NOTIFY_SOCKET": "vsock:2:1"],
        ["NOTIFY_SOCKET": "/" + String(repeating: "a", count: 108)],
    ])
    func managerIsAbsentWithoutItsVariables(variables: [String: String]) {
        #expect(ServiceManager(variables) == nil)
    }

    @Test(arguments: [
        ([:], nil), (["WATCHDOG_USEC": "2000000"], Duration.seconds(2)), (["WATCHDOG_USEC": "0"], nil),
        (["WATCHDOG_USEC": "many"], nil), (["WATCHDOG_USEC": "7", "WATCHDOG_PID": "41"], .microseconds(7)),
        (["WATCHDOG_USEC": "7", "WATCHDOG_PID": "42"], nil),
    ])
    func signsOfLifeWhereTheyAreAskedFor(variables: [String: String], interval: Duration?) {
        let manager = ServiceManager(variables.merging(["NOTIFY_SOCKET": "@x"]) { $1 }, processID: 41)
        #expect(manager != nil)
        #expect(manager?.watchdogInterval == interval)
    }

    @Test func longStartAsksForMoreTime() async throws {
        let socket = try #require(NotifySocket())
        let manager = try #require(ServiceManager(["NOTIFY_SOCKET": socket.name]))
        let messages = await manager.starting(every: .milliseconds(1)) { [socket.receive(), socket.receive()] }
        #expect(messages == Array(repeating: "EXTEND_TIMEOUT_USEC=90000000\nSTATUS=starting", count: 2))
    }

    @Test func hungManagerIsWaitedForToALimitOnly() throws {
        let socket = try #require(NotifySocket())
        let manager = try #require(
            ServiceManager(["NOTIFY_SOCKET": socket.name], sendLimit: .milliseconds(1)))
        let length = try String(contentsOfFile: "/proc/sys/net/unix/max_dgram_qlen", encoding: .utf8)
        let capacity = try #require(Int(length.trimmingCharacters(in: .whitespacesAndNewlines))) + 1
        for _ in 0..<capacity + 2 { manager.stopping() }
        var received = 0
        while !socket.isEmpty {
            #expect(socket.receive() == "STOPPING=1\nSTATUS=finishing the calls in progress")
            received += 1
        }
        #expect((1...capacity).contains(received))
    }

    @Test func noSignOfLifeWithoutAnAnswer() async throws {
        let socket = try #require(NotifySocket())
        let manager = try #require(ServiceManager(["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "1000"]))
        let (responses, response) = AsyncStream<Bool>.makeStream()
        let (questions, question) = AsyncStream<Void>.makeStream()
        let watch = Task {
            await manager.watch {
                question.yield()
                for await goesOn in responses { return goesOn }
                return true
            }
        }
        response.yield(true)
        #expect(socket.receive() == "WATCHDOG=1")
        // It asks again and gets no response.
        var arrived = questions.makeAsyncIterator()
        for _ in 0..<2 { await arrived.next() }
        #expect(socket.isEmpty)
        response.yield(true)
        #expect(socket.receive() == "WATCHDOG=1")
        // A gateway that cannot continue sends no more signs of life, without being told to end.
        response.yield(false)
        await watch.value
        #expect(socket.receive() == "STATUS=waiting for a restart")
        #expect(socket.isEmpty)
    }
}

/// The service manager's end of the socket, with an abstract name.
private final class NotifySocket: Sendable {
    let name = "@data-gateway-test-\(UUID().uuidString)"
    private let descriptor: Int32

    init?() {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = [0] + Array(name.utf8.dropFirst())
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(2 + path.count)
        let bound = withUnsafeBytes(of: &address) {
            bind(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard bound == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Waits for a message.
    func receive() -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    var isEmpty: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) < 0
    }
}
