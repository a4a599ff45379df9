import Basics
import Crypto
import Database
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct EventRecordsTests {
    @Test func eachSubjectHasOneThatIsDue() throws {
        let scene = try Scene()
        let first = try ["x", "x", "y", "x"].map { try scene.happens(to: $0) }
        #expect(try scene.due().map(\.eventID) == [first[0], first[2]])
        #expect(try scene.due("b").isEmpty)
    }

    @Test func theNextIsDueWhenTheOneBeforeWasTakenOrGivenUp() throws {
        let scene = try Scene()
        let ids = try (0..<3).map { _ in try scene.happens(to: "x") }
        try scene.record(scene.due()[0], .delivered)
        #expect(try scene.due().map(\.eventID) == [ids[1]])
        try scene.record(scene.due()[0], .dead(reason: "no"))
        #expect(try scene.due().map(\.eventID) == [ids[2]])
    }

    @Test func aFailureHoldsBackItsSubjectAtItsWebhookOnly() throws {
        let scene = try Scene()
        let x = try scene.happens(to: "x", for: ["a", "b"])
        let later = try scene.happens(to: "x", for: ["a", "b"])
        try scene.record(scene.due()[0], .retry(at: scene.clock.now().adding(seconds: 5), reason: "no"))
        #expect(try scene.due().isEmpty)
        #expect(try scene.found().nextDueAt == scene.clock.now().adding(seconds: 5))
        try scene.record(scene.due("b")[0], .delivered, for: "b")
        #expect(try scene.due("b").map(\.eventID) == [later])
        let y = try scene.happens(to: "y")
        #expect(try scene.due().map(\.eventID) == [y])
        scene.clock.advance(seconds: 5)
        let again = try scene.due()
        #expect(again.map(\.eventID) == [y, x])
        #expect(again[1].attempts == 1)
        #expect(again[1].firstFailedAt == scene.clock.now().adding(seconds: -5))
    }

    @Test func eventBehindAWaitingOneIsHeldBack() throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        try scene.record(scene.due()[0], .retry(at: scene.clock.now().adding(seconds: 5), reason: "no"))
        try scene.happens(to: "x")
        #expect(try scene.due().isEmpty)
    }

    @Test func aDeadLetterComesBackAtItsPlace() throws {
        let scene = try Scene()
        let ids = try (0..<3).map { _ in try scene.happens(to: "x") }
        try scene.record(scene.due()[0], .dead(reason: "no"))
        let letter = try #require(try scene.letters().first)
        #expect((letter.eventID, letter.attempts, letter.lastError) == (ids[0], 1, "no"))
        let under = try scene.due()
        let now = scene.clock.now()
        try scene.database.writeBlocking { try EventRecords($0).revive(letter, at: now) }
        // The second one is in progress: no event of its subject overtakes it, and then the first is sent before the third.
        #expect(try scene.due() == under)
        try scene.record(under[0], .delivered)
        #expect(try scene.due().map(\.eventID) == [ids[0]])
        #expect(try scene.due()[0].attempts == 0)
        try scene.record(scene.due()[0], .delivered)
        #expect(try scene.due().map(\.eventID) == [ids[2]])
        #expect(try scene.letters().isEmpty)
    }

    @Test func endedDeliveryStaysEnded() throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        let delivery = try scene.due()[0]
        try scene.record(delivery, .dead(reason: "no"))
        try scene.record(delivery, .delivered)
        try scene.record(delivery, .retry(at: scene.clock.now(), reason: "no"))
        #expect(try scene.due().isEmpty)
        #expect(try scene.letters().count == 1)
    }

    @Test func listsDeadLettersPageByPage() throws {
        let scene = try Scene()
        for subject in ["x", "y"] { try scene.happens(to: subject, for: ["a", "b"]) }
        for webhook in ["a", "b"] {
            for delivery in try scene.due(webhook) { try scene.record(delivery, .dead(reason: "no"), for: webhook) }
        }
        var (cursor, seen) = ("", [String]())
        while let letter = try scene.database.readBlocking({ [cursor] in
            try EventRecords($0).deadLetters(scope: 1, webhook: "", after: cursor, limit: PageLimit(rows: 1)).rows.first
        }) {
            seen.append("\(letter.subject) \(letter.webhook)")
            cursor = letter.cursor
        }
        #expect(seen == ["x a", "x b", "y a", "y b"])
        #expect(try scene.letters(webhook: "b").map(\.subject) == ["x", "y"])
        let others = try scene.database.readBlocking {
            try EventRecords($0).deadLetters(scope: 2, webhook: "", after: "", limit: PageLimit(rows: 1)).rows
        }
        #expect(others.isEmpty)
    }
}

@Suite(.timeLimited) struct EventRetentionTests {
    private func tidy(
        _ scene: Scene, log: Logger = .discarding, _ configure: (inout WebhooksConfiguration) -> Void = { _ in }
    ) async throws -> Int {
        var configuration = WebhooksConfiguration()
        configuration.webhooks = ["a", "b"].map {
            Webhook(name: $0, url: "http://127.0.0.1:1", keys: [Secret("0123456789abcdef")])
        }
        configure(&configuration)
        return try await EventRetention(
            database: scene.database, clock: scene.clock, configuration: configuration, log: log
        ).run(ClockGuard(clock: scene.clock).permit())
    }

    @Test func anEventGoesWithItsLastDelivery() async throws {
        let scene = try Scene()
        try scene.happens(to: "x", for: ["a", "b"])
        try scene.record(scene.due()[0], .delivered)
        scene.clock.advance(seconds: 7 * 86_400)
        #expect(try await tidy(scene) == 0)
        scene.clock.advance(seconds: 1)
        #expect(try await tidy(scene) == 1)
        #expect(try scene.count("events") == 1)
        try scene.record(scene.due("b")[0], .delivered, for: "b")
        scene.clock.advance(seconds: 8 * 86_400)
        #expect(try await tidy(scene) == 1)
        #expect(try scene.count("events") == 0)
    }

    @Test func waitingEventIsNeverTooOld() async throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        scene.clock.advance(seconds: 1000 * 86_400)
        #expect(try await tidy(scene) == 0)
        #expect(try scene.due().count == 1)
    }

    @Test func ofTooManyTheOldestAreGivenUp() async throws {
        let scene = try Scene()
        let ids = try (0..<5).map { try scene.happens(to: $0 < 3 ? "x" : "y") }
        let written = Lock<[String]>([])
        let log = Logger { line in written.withLock { $0.append(line) } }
        #expect(try await tidy(scene, log: log) { $0.maximumPending = 3 } == 0)
        let expected = ids[..<2].map {
            "warning an event could not be delivered and is a dead letter event_id=\"\($0)\" webhook=a why=\"too many events were waiting\""
        }
        #expect(written.withLock { $0 } == expected)
        #expect(try scene.letters().map(\.eventID) == Array(ids[..<2]))
        #expect(
            try scene.letters().map(\.lastError) == ["too many events were waiting", "too many events were waiting"])
        #expect(try scene.due().map(\.eventID) == [ids[2], ids[3]])
        // The most recent dead letters are kept, too.
        #expect(try await tidy(scene) { $0.maximumDeadLetters = 1 } == 1)
        #expect(try scene.letters().map(\.eventID) == [ids[1]])
        #expect(try scene.count("events") == 4)
    }

    /// An event of an object with many tags has half a megabyte.
    @Test func bytesAreBoundedToo() async throws {
        let scene = try Scene()
        let payload = String(repeating: "é", count: 50)
        let ids = try (0..<5).map { _ in try scene.happens(to: "x", for: ["a", "b"], payload: payload) }
        #expect(try await tidy(scene) { $0.maximumBytes = 500 } == 0)
        #expect(try scene.letters().isEmpty)
        #expect(try await tidy(scene) { $0.maximumBytes = 350 } == 0)
        #expect(try scene.letters(webhook: "a").map(\.eventID) == Array(ids[..<2]))
        #expect(try scene.due().map(\.eventID) == [ids[2]])
        #expect(try await tidy(scene) { $0.maximumBytes = 150 } >= 1)
        #expect(try scene.letters(webhook: "a").map(\.eventID) == [ids[3]])
        #expect(try scene.due().map(\.eventID) == [ids[4]])
    }

    @Test func deadLettersAreKeptLonger() async throws {
        let scene = try Scene()
        try scene.happens(to: "x")
        try scene.record(scene.due()[0], .dead(reason: "no"))
        scene.clock.advance(seconds: 90 * 86_400)
        #expect(try await tidy(scene) == 0)
        scene.clock.advance(seconds: 1)
        #expect(try await tidy(scene) == 1)
    }
}
