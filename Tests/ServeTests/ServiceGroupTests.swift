import Capability
import TestSupport
import Testing

@testable import Serve

@Suite(.timeLimited) struct ServiceGroupTests {
    private let record = ServiceRecord()

    private func group(failing position: Int = -1) -> ServiceGroup {
        ServiceGroup("test", (0..<4).map { RecordedService("\($0)", record, fails: $0 == position) })
    }

    @Test func servicesStartInOrderAndStopInReverse() async throws {
        let group = group()
        try await group.start()
        await group.stop()
        #expect(record.all == (0..<4).map { "start \($0)" } + (0..<4).reversed().map { "stop \($0)" })
    }

    @Test(arguments: 0..<4)
    func failingStartStopsWhatHadStarted(position: Int) async {
        let group = group(failing: position)
        await #expect(throws: TestFailure.self) { try await group.start() }
        let expected = (0...position).map { "start \($0)" } + (0..<position).reversed().map { "stop \($0)" }
        #expect(record.all == expected)
        await group.stop()
        #expect(record.all == expected)
    }

    @Test func innerGroupThatFailsIsTakenBackBeforeTheOuterOne() async {
        let inner = ServiceGroup(
            "inner", [RecordedService("b", record), RecordedService("c", record, fails: true)], stopOrder: .together)
        let outer = ServiceGroup("outer", [RecordedService("a", record), inner])
        await #expect(throws: TestFailure.self) { try await outer.start() }
        #expect(record.all == ["start a", "start b", "start c", "stop b", "stop a"])
    }

    /// Each of these can only stop while the other does.
    @Test func servicesThatStopTogetherDoNotWaitForEachOther() async throws {
        let (left, toLeft) = AsyncStream<Void>.makeStream()
        let (right, toRight) = AsyncStream<Void>.makeStream()
        let group = ServiceGroup(
            "test",
            [
                ValueService("left") {
                } close: { [record] in
                    toRight.finish()
                    for await _ in left {}
                    record.add("left")
                },
                ValueService("right") {
                } close: { [record] in
                    toLeft.finish()
                    for await _ in right {}
                    record.add("right")
                },
            ], stopOrder: .together)
        try await group.start()
        await group.stop()
        #expect(record.all.sorted() == ["left", "right"])
    }

    @Test func groupStopsWhenItsBodyReturns() async throws {
        let group = group()
        try await group.start()
        try await group.run { [record] in record.add("run") }
        #expect(record.all[4...] == ["run", "stop 3", "stop 2", "stop 1", "stop 0"])
    }

    @Test func serviceThatEndsByItselfEndsTheGroup() async throws {
        let service = RecordedService("b", record)
        let inner = ServiceGroup("inner", [service], stopOrder: .together)
        let group = ServiceGroup("outer", [RecordedService("a", record), inner])
        try await group.start()
        let failure = await #expect(throws: ServiceFailure.self) {
            try await group.run {
                service.end()
                // Returns when the group cancels it.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
        #expect(failure?.service == "b")
        #expect(failure?.error is TestFailure)
        #expect(record.all == ["start a", "start b", "stop b", "stop a"])
    }

    @Test func backgroundWorkThatThrowsEndsTheGroup() async throws {
        let group = ServiceGroup("test", [BackgroundService(BackgroundWork("work") { throw TestFailure() })])
        try await group.start()
        let failure = await #expect(throws: ServiceFailure.self) {
            try await group.run { for await _ in AsyncStream<Void>.makeStream().stream {} }
        }
        #expect(failure?.description == "the service 'work' ended: TestFailure()")
    }

    @Test func backgroundWorkThatIsStoppedIsNoFailure() async throws {
        let work = BackgroundWork("work") { [record] in
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                record.add("canceled")
                throw error
            }
        }
        let group = ServiceGroup("test", [BackgroundService(work)])
        try await group.start()
        try await group.run {}
        #expect(record.all == ["canceled"])
    }
}
