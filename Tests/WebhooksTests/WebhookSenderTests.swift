import Basics
import Crypto
import GatewayTesting
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct WebhookSenderTests {
    /// While an event waits for its time, a notification causes one query of the outbox and no further ones.
    @Test func senderLooksOnceForEachNotification() async throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        try scene.settle(scene.due()[0], .retry(at: scene.clock.now().adding(seconds: 3600), reason: "no"))
        let (looks, continuation) = AsyncStream.makeStream(of: Void.self)
        let clock = WatchedClock(scene.clock, looks: continuation)
        let sender = WebhookSender(
            Webhook(name: "a", url: "http://127.0.0.1:1", keys: [Secret("0123456789abcdef")]), database: scene.database,
            clock: clock, metrics: EventMetrics(webhooks: ["a"], database: scene.database, clock: clock),
            configuration: WebhooksConfiguration(), log: .discarding)
        let task = Task { await sender.run() }
        var seen = looks.makeAsyncIterator()
        await seen.next()
        for _ in 0..<10 {
            sender.signal.notify()
            await seen.next()
            // Queries use the same writer: a further query without a notification would get its turn.
            for _ in 0..<30 { try await scene.database.write { _ in } }
        }
        task.cancel()
        await task.value
        continuation.finish()
        var further = 0
        while await seen.next() != nil { further += 1 }
        #expect(further == 0)
    }
}
