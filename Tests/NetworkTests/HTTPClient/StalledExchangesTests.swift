import Database
import Dispatch
import Foundation
import GatewayTesting
import HTTPClient
import HTTPTestClient
import TestSupport
import Testing

@Suite(.timeLimited) struct StalledExchangesTests {
    /// Dispatch has some 255 threads for blocked queues; then no queue of the process runs any more.
    @Test func sixHundredStalledExchangesDelayNothing() async throws {
        let stalled = try RawServer(nil)
        defer { stalled.stop() }
        let receiver = try RawReceiver()
        defer { receiver.stop() }
        let database = try TestDatabase([])
        var many = HTTPConnection.Options()
        many.stallTimeout = .seconds(3600)
        let single = many
        many.maximumExchanges = 300
        let connections = (0..<300).map { _ in HTTPConnection(single) } + [HTTPConnection(many)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ended = Ended()
            for index in 0..<600 {
                let connection = connections[min(index, 300)]
                group.addTask {
                    defer { ended.count() }
                    _ = try? await connection.exchange(HTTPRequest("GET", stalled.url + "/"))
                }
            }
            // Not `waitUntil`, which would keep one of the few threads that the exchanges start on.
            while stalled.accepted < 600 { await Task.yield() }
            for _ in 0..<4 {
                let reply = try await HTTPConnection().exchange(
                    HTTPRequest("PUT", "http://127.0.0.1:\(receiver.port)/", body: .bytes([1])))
                #expect(reply.status == 204)
            }
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "test").async { continuation.resume() }
            }
            #expect(try await database.database.readInBackground { _ in 7 } == 7)
            let names = try Self.threads()
            #expect(ended.value == 0)
            #expect(names.count { $0 == "transfers" } <= 2)
            group.cancelAll()
        }
    }

    /// The names of the process's threads.
    private static func threads() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
        }
    }
}
