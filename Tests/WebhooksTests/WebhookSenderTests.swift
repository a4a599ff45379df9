import Basics
import Crypto
import Database
import DatabaseTesting
import Dispatch
import GatewayTesting
import HTTPClient
import HTTPTestClient
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct WebhookSenderTests {
    /// While an event waits for its time, a notification causes one query of the outbox and no further ones.
    @Test func senderLooksOnceForEachNotification() async throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        try scene.record(scene.due()[0], .retry(at: scene.clock.now().adding(seconds: 3600), reason: "no"))
        let (looks, continuation) = AsyncStream.makeStream(of: Void.self)
        let clock = WatchedClock(scene.clock, looks: continuation)
        let sender = WebhookSender(
            Webhook(name: "a", url: "http://127.0.0.1:1", keys: [Secret("0123456789abcdef")]), database: scene.database,
            clock: clock, recorder: recorder(scene), configuration: WebhooksConfiguration(), log: .discarding)
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

    /// One write has the results of several webhooks, and another gateway has taken one of these.
    @Test(.onPostgres) func resultsOfALostLeaseAreNotRecorded() async throws {
        let scene = try Scene()
        for webhook in ["a", "b"] { try scene.happens(to: "x", for: [webhook]) }
        let (recorder, leases) = (recorder(scene), scene.database.leases)
        @Sendable func record(_ webhook: String, under lease: Lease?) async throws {
            let result = DeliveryResult(
                delivery: try scene.due(webhook)[0], webhook: webhook, outcome: .delivered, time: scene.clock.now())
            try await Lease.$current.withValue(lease) { try await recorder.record(result) }
        }
        _ = try await leases.holding("webhook/a", for: "") { lost in
            _ = try await leases.holding("webhook/b", for: "") { kept in
                try await scene.database.write {
                    _ = try $0.execute("UPDATE leases SET generation = 9 WHERE name = 'webhook/a'")
                }
                let release = try scene.database.holdWriter()
                let others = [("a", lost), ("b", kept)].map { webhook, lease in
                    Task { try await record(webhook, under: lease) }
                }
                release()
                await #expect(throws: LeaseLost.self) { try await others[0].value }
                try await others[1].value
            }
        }
        #expect(try scene.due("a").count == 1)
        #expect(try scene.due("b").isEmpty)
    }

    @Test func requestHasNoOtherLimitThanTheConfiguredOne() {
        var configuration = WebhooksConfiguration()
        configuration.timeout = .minutes(5)
        let options = WebhookSender.connectionOptions(Webhook(name: "a", url: "http://a/", keys: []), configuration)
        #expect(options.connectTimeout == .minutes(5))
        #expect(options.stallTimeout == .minutes(5))
        #expect(options.totalTimeout == .minutes(5))
    }

    /// A sender of webhook "a", which is for all organizations, to a receiver.
    private func sender(_ scene: Scene, to receiver: RawReceiver, _ recorder: DeliveryRecorder) -> WebhookSender {
        var configuration = WebhooksConfiguration()
        // A request that the receiver answers late must not be repeated, however busy the machine is.
        configuration.timeout = .hours(1)
        return WebhookSender(
            Webhook(
                name: "a", url: "http://127.0.0.1:\(receiver.port)/", keys: [Secret("0123456789abcdef")]),
            database: scene.database, clock: scene.clock, recorder: recorder, configuration: configuration,
            log: .discarding)
    }

    private func recorder(_ scene: Scene) -> DeliveryRecorder {
        DeliveryRecorder(
            scene.database,
            metrics: EventMetrics(webhooks: ["a"], database: scene.database, clock: scene.clock))
    }

    /// The gateway that has the lease sends the events of all gateways, whose commits notify no signal here.
    @Test func eventOfAnotherGatewayIsSent() async throws {
        let scene = try Scene(isShared: true)
        let receiver = try RawReceiver { _ in }
        defer { receiver.stop() }
        let sender = sender(scene, to: receiver, recorder(scene))
        let task = Task { await sender.run() }
        // It has found nothing, and waits.
        await scene.calls.next(2)
        try scene.happens(to: "x")
        while try !scene.due().isEmpty { await Task.yield() }
        task.cancel()
        await task.value
        #expect(receiver.requests.count == 1)
    }

    /// Each response lets the next request begin, and the results wait for one write, also of two webhooks.
    @Test func resultsOfManyDeliveriesAreRecordedInOneWrite() async throws {
        let scene = try Scene()
        for number in 0..<40 { try scene.happens(to: "\(number)") }
        let answered = DispatchSemaphore(value: 0)
        let receiver = try RawReceiver { _ in answered.signal() }
        defer { receiver.stop() }
        let recorder = recorder(scene)
        let sender = sender(scene, to: receiver, recorder)
        let release = try scene.database.holdWriter()
        let task = Task { await sender.run() }
        // More than may be in progress at once, although nothing can be recorded.
        try await onThread { for _ in 0..<40 { try answered.waitForSignal() } }
        while await recorder.unrecorded < 40 { await Task.yield() }
        #expect(scene.database.waitingWrites <= 1)
        release()
        try await onThread { try waitUntil { (try? scene.due().isEmpty) == true } }
        task.cancel()
        await task.value
        // The first result alone, and the others in batches.
        #expect(await recorder.writes <= 4)
        #expect(receiver.requests.count == 40)
        // Connections are kept.
        #expect(receiver.accepted <= WebhooksConfiguration().concurrency)
        for request in receiver.requests { #expect(!request.head.lowercased().contains("expect")) }
    }

    @Test func oneOrganizationDoesNotOccupyAllRequests() async throws {
        let scene = try Scene()
        for number in 0..<40 { try scene.happens(to: "1/\(number)", organization: 1, payload: "1") }
        let (arrived, other, response) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let receiver = try RawReceiver { request in
            guard request.body != Array("2".utf8) else {
                other.signal()
                return
            }
            arrived.signal()
            try? response.waitForSignal()
        }
        defer { receiver.stop() }
        let sender = sender(scene, to: receiver, recorder(scene))
        let task = Task { await sender.run() }
        try await onThread { for _ in 0..<6 { try arrived.waitForSignal() } }
        try scene.happens(to: "2/0", organization: 2, payload: "2")
        sender.signal.notify()
        // It arrives although no request of the other organization ends.
        try await onThread { try other.waitForSignal() }
        #expect(receiver.requests.count == 7)
        task.cancel()
        for _ in 0..<40 { response.signal() }
        await task.value
    }

    @Test func eventsOfASubjectArriveInOrderWhileOthersAreInProgress() async throws {
        let scene = try Scene()
        for number in 0..<60 { try scene.happens(to: "\(number % 6)", payload: "\(number)") }
        let all = DispatchSemaphore(value: 0)
        let receiver = try RawReceiver { _ in all.signal() }
        defer { receiver.stop() }
        let sender = sender(scene, to: receiver, recorder(scene))
        let task = Task { await sender.run() }
        try await onThread { for _ in 0..<60 { try all.waitForSignal() } }
        task.cancel()
        await task.value
        let numbers = receiver.requests.compactMap { Int(String(decoding: $0.body, as: UTF8.self)) }
        for subject in 0..<6 {
            #expect(numbers.filter { $0 % 6 == subject } == Array(stride(from: subject, to: 60, by: 6)))
        }
    }

    /// Waits on a thread of its own, so that no thread of the tasks is blocked.
    private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            _ = TestThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}
