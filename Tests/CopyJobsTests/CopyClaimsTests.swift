import Basics
import Database
import TestSupport
import Testing

@testable import CopyJobs

/// Workers of several processes over one database.
@Suite(.timeLimited) struct CopyClaimsTests {
    private let scene: Scene
    private let destination = SteppedDestination()

    init() throws {
        scene = try Scene(isShared: true)
    }

    /// Returns the workers of another process.
    private func process(
        _ pass: @escaping SteppedDestination.Pass = { _, _ in }
    ) -> CopyWorkers {
        var configuration = CopyJobsConfiguration()
        configuration.workers = 4
        configuration.pause = .milliseconds(1)
        let target = SteppedTarget(place: place, destination: destination, pass: pass)
        configuration.destinations = [CopyTarget(target, organizations: ["o"])]
        return CopyWorkers(
            database: scene.database, store: scene.store, clock: SystemClock(), configuration: configuration,
            log: .discarding, claimDuration: .days(1))
    }

    private var place: CopyPlace { CopyPlace(endpoint: "file://\(scene.root)", bucket: "", region: "") }

    private func add(items: Int) throws {
        try scene.add("a", items: items)
        for number in 0..<items { try scene.store(Array("bytes \(number)".utf8), uploadID: "u\(number)") }
    }

    private func item(_ number: Int = 0) throws -> CopyItem {
        try #require(try scene.database.readBlocking { try CopyRecords($0).item(number, of: "a") })
    }

    private var state: CopyJobState? {
        get throws { try scene.database.readBlocking { try CopyRecords($0).job("a", scope: nil)?.state } }
    }

    private func endClaims() async throws {
        try await scene.database.write { _ = try $0.execute("UPDATE copy_items SET claimed_until = 1") }
    }

    private func claim(_ workers: CopyWorkers) async throws -> CopyAttempt? {
        try await workers.claim(at: SystemClock().now())?.attempt
    }

    /// It is stopped in the step for longer than its claim lasts, and continues after another process has copied the item.
    @Test(arguments: SteppedDestination.Step.allCases)
    func stoppedWorkerRecordsNothing(step: SteppedDestination.Step) async throws {
        try add(items: 1)
        let stop = StopPoint()
        let (first, second) = (process { if $0 == step, $1.attempts == 1 { await stop.pass() } }, process())
        let attempt = try #require(await claim(first))
        let stopped = Task { try await attempt.run() }
        await stop.arrival()
        try await second.takeOver()
        #expect(try await claim(second) == nil)
        try await endClaims()
        try await second.takeOver()
        let other = try #require(await claim(second))
        try await other.run()
        let end = try item()
        #expect((end.state, end.attempts, end.claim.number) == (.succeeded, 2, 2))
        stop.open()
        await #expect(throws: CopyClaimLost.self) { try await stopped.value }
        let item = try item()
        #expect((item.state, item.attempts, item.copiedBytes) == (end.state, end.attempts, end.copiedBytes))
        #expect(try state == .succeeded)
    }

    /// A worker whose claim was lost must not remove what the next one has begun.
    @Test func stoppedWorkerOfACanceledJobRemovesNothing() async throws {
        try add(items: 1)
        let stop = StopPoint()
        let (first, second) = (process { if $0 == .begun, $1.attempts == 1 { await stop.pass() } }, process())
        let attempt = try #require(await claim(first))
        let stopped = Task { try await attempt.run() }
        await stop.arrival()
        try await endClaims()
        try await second.takeOver()
        _ = try #require(await claim(second))
        try await cancel()
        stop.open()
        await #expect(throws: CopyClaimLost.self) { try await stopped.value }
        #expect(destination.abandoned == 0)
        #expect(try item().state == .copying)
    }

    private func cancel() async throws {
        try await scene.database.write { connection in
            var job = try #require(try CopyRecords(connection).job("a", scope: nil))
            job.state = .canceling
            try CopyRecords(connection).update(job)
        }
    }

    @Test func noItemIsCopiedByTwoOrLost() async throws {
        let count = 12
        try add(items: count)
        let processes = [process(), process()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for workers in processes { group.addTask { await workers.run() } }
            while try state?.isFinished != true {
                for workers in processes {
                    try await workers.renewClaims()
                    try await workers.takeOver()
                }
                await Task.yield()
            }
            group.cancelAll()
        }
        #expect(try state == .succeeded)
        #expect(destination.collisions == 0 && destination.written == count)
        for number in 0..<count { #expect(try item(number).attempts == 1) }
    }

    /// The claim of a worker that is still there is renewed; one that was lost ends its attempt.
    @Test func renewalKeepsAClaimAndNoticesItsLoss() async throws {
        try add(items: 1)
        let stop = StopPoint()
        let (first, second) = (process { if $0 == .begun, $1.attempts == 1 { await stop.pass() } }, process())
        // Without the renewals of a running process.
        let running = Task { try await first.workOnNextItem(at: SystemClock().now()) }
        await stop.arrival()
        try await endClaims()
        try await first.renewClaims()
        try await second.takeOver()
        #expect(try item().state == .copying)
        try await endClaims()
        try await second.takeOver()
        #expect(try item().state == .queued)
        // It is canceled in its step.
        try await first.renewClaims()
        _ = try? await running.value
        #expect(try item().state == .queued)
        #expect(try item().claim.number == 1)
    }

    @Test func jobIsCanceledWhereItsItemsAreCopied() async throws {
        try add(items: 1)
        let stop = StopPoint()
        let workers = process { step, _ in if step == .begun { await stop.pass() } }
        let running = Task { await workers.run() }
        await stop.arrival()
        try await cancel()
        try await workers.stopCanceled()
        while try state != .canceled { await Task.yield() }
        #expect(destination.abandoned == 1)
        running.cancel()
        await running.value
    }

    /// Another process need not wait for the end of the claims.
    @Test func processThatStopsGivesItsItemsBack() async throws {
        try add(items: 1)
        let stop = StopPoint()
        let workers = process { step, _ in if step == .begun { await stop.pass() } }
        let running = Task { await workers.run() }
        await stop.arrival()
        running.cancel()
        await running.value
        #expect(try item().state == .queued)
        #expect(try await claim(process()) != nil)
    }
}

/// A point at which a task waits until a test lets it continue, or cancels it.
private final class StopPoint: Sendable {
    private let arrivals = AsyncStream<Void>.makeStream()
    private let openings = AsyncStream<Void>.makeStream()

    func pass() async {
        arrivals.continuation.yield()
        for await _ in openings.stream {}
    }

    func arrival() async {
        for await _ in arrivals.stream { return }
    }

    func open() { openings.continuation.finish() }
}

/// A destination in memory, whose writers call a function at each step.
final class SteppedDestination: Sendable {
    enum Step: CaseIterable, Sendable {
        case looked, begun, reached, written
    }

    typealias Pass = @Sendable (Step, CopyItem) async throws -> Void

    private struct State {
        var contents: Set<String> = []
        var writing: Set<String> = []
        var written = 0
        var collisions = 0
        var abandoned = 0
    }

    private let state = Lock(State())

    /// The number of items that were written completely.
    var written: Int { state.withLock { $0.written } }
    /// The number of times that a writer began an item that another one was writing, or had written.
    var collisions: Int { state.withLock { $0.collisions } }
    var abandoned: Int { state.withLock { $0.abandoned } }

    fileprivate func has(_ key: String) -> Bool { state.withLock { $0.contents.contains(key) } }

    fileprivate func begin(_ key: String) {
        state.withLock { state in
            if !state.writing.insert(key).inserted || state.contents.contains(key) { state.collisions += 1 }
        }
    }

    fileprivate func end(_ key: String) {
        state.withLock { state in
            state.writing.remove(key)
            state.contents.insert(key)
            state.written += 1
        }
    }

    fileprivate func abandon() { state.withLock { $0.abandoned += 1 } }
}

private struct SteppedTarget: DestinationTarget {
    let place: CopyPlace
    let destination: SteppedDestination
    let pass: SteppedDestination.Pass

    var name: String { "memory" }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        SteppedWriter(destination: destination, pass: pass)
    }
}

private struct SteppedWriter: DestinationWriter {
    let destination: SteppedDestination
    let pass: SteppedDestination.Pass

    func objection(to key: String) -> String? { nil }

    func path(of key: String) -> String { "memory/\(key)" }

    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent {
        let content: DestinationContent = destination.has(item.key) ? .same : .nothing
        try await pass(.looked, item)
        return content
    }

    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws {
        destination.begin(item.key)
        try await pass(.begun, item)
        try Task.checkCancellation()
        try await progress.reached(source.size)
        try await pass(.reached, item)
        destination.end(item.key)
        try await pass(.written, item)
    }

    func abandon(_ item: CopyItem) async throws { destination.abandon() }
}
