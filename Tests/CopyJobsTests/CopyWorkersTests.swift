import Basics
import Database
import DatabaseTesting
import Foundation
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import CopyJobs

@Suite(.timeLimited) struct CopyWorkersTests {
    private let scene: Scene
    /// An element for each time that the workers read the clock, once in each turn.
    private let looks = AsyncStream<Void>.makeStream()

    init() throws {
        scene = try Scene()
    }

    private func workers(
        _ clock: any WallClock, organizations: [String]? = nil, count: Int = 1, log: Logger = .discarding
    ) -> CopyWorkers {
        var configuration = CopyJobsConfiguration()
        configuration.workers = count
        configuration.pause = .milliseconds(1)
        configuration.destinations = [.folder(FolderTarget(root: scene.root), organizations: organizations)]
        return CopyWorkers(
            database: scene.database, store: scene.store, clock: WatchedClock(clock, looks: looks.continuation),
            configuration: configuration, log: log)
    }

    /// Runs the workers until `isDone` returns true, which is called in each of their turns.
    ///
    /// It ends after they have: an item that they would take afterwards would be copied by nobody.
    private func run(_ workers: CopyWorkers, until isDone: () throws -> Bool) async throws {
        async let _ = workers.run()
        for await _ in looks.stream where try isDone() { return }
    }

    private var state: CopyJobState? {
        get throws { try scene.database.readBlocking { try CopyRecords($0).job("a", scope: nil)?.state } }
    }

    /// A disk that was full for a while must not block a job forever.
    @Test(.onSQLite) func itemWhoseEndCannotBeWrittenIsRetried() async throws {
        try scene.add("a", items: 1)
        _ = try scene.database.writeBlocking { connection in
            try connection.execute(
                """
                CREATE TRIGGER full BEFORE UPDATE ON copy_items WHEN NEW.state NOT IN (1, 2)
                BEGIN SELECT RAISE(ABORT, 'full'); END
                """)
        }
        let failures = Lock<[String]>([])
        let log = Logger { line in failures.withLock { $0.append(line) } }
        try await run(workers(SystemClock(), log: log)) {
            if failures.withLock({ $0.count }) >= 2 {
                _ = try scene.database.writeBlocking { try $0.execute("DROP TRIGGER IF EXISTS full") }
            }
            return try state == .failed
        }
        let lines = failures.withLock { $0 }
        #expect(lines.count >= 2)
        #expect(lines.allSatisfy { $0.hasPrefix("error   a copy failed error=") && $0.contains("full") })
    }

    /// A clock that advances by a millisecond each time it is read.
    private final class SteppingClock: WallClock {
        private let time = Lock(UnixTime(seconds: 1_800_000_000))

        func now() -> UnixTime {
            time.withLock { time in
                defer { time = time.adding(.milliseconds(1)) }
                return time
            }
        }
    }

    /// It becomes due between two readings of the clock, without a notification.
    @Test(arguments: 0..<8) func itemDueBetweenTwoLooksIsCopied(step: Int64) async throws {
        try scene.add("a", items: 1)
        let clock = SteppingClock()
        let due = clock.now().adding(.milliseconds(step))
        try scene.database.writeBlocking { connection in
            let item = try #require(try CopyRecords(connection).item(0, of: "a"))
            try CopyRecords(connection).update(item, due: due)
        }
        try await run(workers(clock)) { try state == .failed }
        let item = try scene.database.readBlocking { try CopyRecords($0).item(0, of: "a") }
        #expect(item?.attempts == 1)
    }

    /// Content found at the second attempt was copied by the first; at the first attempt it existed before.
    @Test(arguments: [(0, CopyItemState.skipped, 0), (1, .succeeded, 3)])
    func fileFoundAtTheDestinationIsSkippedOrCounted(attempts: Int, end: CopyItemState, bytes: Int64) async throws {
        try scene.store([1, 2, 3], uploadID: "u0")
        try scene.add("a", items: 1)
        try Data([1, 2, 3]).write(to: URL(filePath: "\(scene.root)/k0"))
        try scene.database.writeBlocking { connection in
            var item = try #require(try CopyRecords(connection).item(0, of: "a"))
            item.attempts = attempts
            try CopyRecords(connection).update(item)
        }
        try await run(workers(SystemClock())) { try state == .succeeded }
        let item = try scene.database.readBlocking { try CopyRecords($0).item(0, of: "a") }
        #expect(item?.state == end && item?.copiedBytes == bytes)
    }

    /// Adds job `a` of organization 1 and job `b` of another one, which copy different bytes to the same key `k0`.
    private func addRivals() throws {
        try AccountRows(scene.database).addOrganization("p")
        try scene.add("a", items: 1)
        try scene.add("b", items: 1, organizationID: 2, upload: "v")
        try scene.store(Array("ours".utf8), uploadID: "u0")
        try scene.store(Array("theirs".utf8), uploadID: "v0")
    }

    private func finish(_ workers: CopyWorkers, job: String) async throws -> CopyItem? {
        try await run(workers) {
            try scene.database.readBlocking { try CopyRecords($0).job(job, scope: nil)?.state.isFinished ?? true }
        }
        return try scene.database.readBlocking { try CopyRecords($0).item(0, of: job) }
    }

    @Test func noOrganizationWritesOverAnothersFile() async throws {
        try addRivals()
        let workers = workers(SystemClock(), organizations: ["o", "p"])
        let mine = try await finish(workers, job: "a")
        let theirs = try await finish(workers, job: "b")
        #expect(mine?.state == .succeeded)
        #expect((theirs?.state, theirs?.errorCode) == (.failed, "DESTINATION_OCCUPIED"))
        #expect(try String(contentsOfFile: "\(scene.root)/k0", encoding: .utf8) == "ours")
    }

    @Test func anOrganizationWritesOverItsOwnFileAndOverNoOther() async throws {
        try scene.add("a", items: 1)
        try scene.store(Array("first".utf8), uploadID: "u0")
        #expect(try await finish(workers(SystemClock()), job: "a")?.state == .succeeded)
        try scene.add("b", items: 1, upload: "v")
        try scene.store(Array("second".utf8), uploadID: "v0")
        #expect(try await finish(workers(SystemClock()), job: "b")?.state == .succeeded)
        #expect(try String(contentsOfFile: "\(scene.root)/k0", encoding: .utf8) == "second")

        try Data("somebody's".utf8).write(to: URL(filePath: "\(scene.root)/k1"))
        try scene.add("c", items: 2, upload: "w")
        for upload in ["w0", "w1"] { try scene.store(Array(upload.utf8), uploadID: upload) }
        #expect(try await finish(workers(SystemClock()), job: "c")?.state == .succeeded)
        let second = try scene.database.readBlocking { try CopyRecords($0).item(1, of: "c") }
        #expect(second?.errorCode == "DESTINATION_OCCUPIED")
        #expect(try String(contentsOfFile: "\(scene.root)/k1", encoding: .utf8) == "somebody's")
    }

    @Test func destinationsAreForTheOrganizationsThatTheyName() async throws {
        try addRivals()
        let workers = workers(SystemClock(), organizations: ["p"])
        #expect(try await finish(workers, job: "a")?.errorCode == "DESTINATION_NOT_CONFIGURED")
        #expect(try await finish(workers, job: "b")?.state == .succeeded)
    }

    @Test func withoutNamesEachOfSeveralHasItsFolder() async throws {
        try addRivals()
        let workers = workers(SystemClock())
        let item = try await finish(workers, job: "a")
        #expect(item?.errorCode == "DESTINATION_NOT_CONFIGURED")
        #expect(item?.errorMessage.hasSuffix("go below file://\(scene.root)/o/") == true)
        let routes = try await scene.database.write { connection in
            try ["", "/o", "/p", "/o2"].map { folder in
                let place = CopyPlace(endpoint: "file://\(scene.root)\(folder)", bucket: "", region: "")
                return try workers.route(to: place, of: 1, in: connection)?.objection(to: "k") == nil
            }
        }
        #expect(routes == [false, true, false, false])
    }

    @Test func organizationsTakeTurnsHoweverManyJobsOneHas() async throws {
        for name in ["p", "q"] { try AccountRows(scene.database).addOrganization(name) }
        for job in ["a", "b", "c"] { try scene.add(job, items: 3) }
        try scene.add("x", items: 2, organizationID: 2)
        let workers = workers(SystemClock())
        var order: [String] = []
        while let (attempt, _) = try await workers.claim(at: SystemClock().now()) { order.append(attempt.job.id) }
        #expect(order.prefix(4).map { $0 == "x" } == [false, true, false, true])
        #expect(order.count == 11)
    }

    /// An item for a slow destination can occupy a worker for hours.
    @Test func organizationOccupiesHalfOfTheWorkersAndOthersCopyMeanwhile() async throws {
        for name in ["p", "q"] { try AccountRows(scene.database).addOrganization(name) }
        try scene.add("a", items: 9)
        let workers = workers(SystemClock(), count: 4)
        func claim() async throws -> (attempt: CopyAttempt, slot: SharedSlots<Int64>.Slot)? {
            try await workers.claim(at: SystemClock().now())
        }
        var busy = [try await claim(), try await claim()]
        #expect(busy.map { $0?.attempt.job.id } == ["a", "a"])
        #expect(try await claim() == nil)
        try scene.add("b", items: 9, organizationID: 2)
        try scene.add("c", items: 9, organizationID: 3)
        busy += [try await claim(), try await claim()]
        #expect(Set(busy.suffix(2).map { $0?.attempt.job.id }) == ["b", "c"])
        #expect(try await claim() == nil)
        // The last quarter is for organizations without a worker.
        busy.removeFirst()
        #expect(try await claim() == nil)
        busy.removeFirst()
        #expect(try await claim()?.attempt.job.organizationID == 1)
        withExtendedLifetime(busy) {}
    }
}
