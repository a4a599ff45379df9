import Basics
import Synchronization
import TestSupport
import Testing

@testable import Database

/// The order of background reads, by a test's clock.
@Suite(.timeLimited) struct ReadingThreadsTests {
    /// The time that reads have taken, and their order.
    private final class Record: Sendable {
        let time = Lock<UInt64>(0)
        let names = Lock<[String]>([])
    }

    private let record = Record()

    private var order: [String] { record.names.withLock { $0 } }

    private func threads() -> ReadingThreads {
        ReadingThreads(name: "test", count: 0) { [record] in record.time.withLock { $0 } }
    }

    private func add(_ name: String, _ cost: UInt64, for owner: WorkOwner?, to threads: ReadingThreads) {
        let read = ReadingThreads.Read {
            name
        } end: { [record] result in
            record.time.withLock { $0 += cost }
            record.names.withLock { $0.append((try? result.get()) ?? "refused \(name)") }
        }
        threads.add(read, for: owner)
    }

    @Test func longReadsOfOneOrganizationDelayAnotherByOneOfThem() {
        let threads = threads()
        for number in 0..<20 { add("flood", 240, for: .user(Int64(number), of: 1), to: threads) }
        for _ in 0..<3 { _ = threads.runNext() }
        for _ in 0..<5 { add("other", 1, for: .user(1, of: 2), to: threads) }
        for _ in 0..<7 { _ = threads.runNext() }
        #expect(order[3...].prefix(6).count { $0 == "other" } == 5)
    }

    @Test func ownersOfAnOrganizationTakeTurns() {
        let threads = threads()
        for _ in 0..<5 { add("flood", 10, for: .user(1, of: 1), to: threads) }
        add("other", 10, for: .user(2, of: 1), to: threads)
        for _ in 0..<2 { _ = threads.runNext() }
        #expect(order.contains("other"))
    }

    @Test func theGatewaysOwnReadsAreNotPassedOver() {
        let threads = threads()
        for organization in 0..<30 {
            for _ in 0..<10 { add("user", 10, for: .user(1, of: Int64(organization)), to: threads) }
        }
        for _ in 0..<10 { add("gateway", 10, for: nil, to: threads) }
        for _ in 0..<100 { _ = threads.runNext() }
        #expect(order.count { $0 == "gateway" } >= 9)
    }

    @Test func readsAfterTheEndAreRefused() {
        let threads = threads()
        threads.close()
        add("late", 1, for: nil, to: threads)
        #expect(order == ["refused late"])
    }

    @Test func readsOfOwnersThatWaitAreRefusedAtTheStop() {
        let threads = threads()
        for name in ["first", "second"] { add(name, 1, for: .user(1, of: 1), to: threads) }
        add("gateway", 1, for: nil, to: threads)
        threads.stop()
        #expect(order == ["refused first", "refused second"])
        for _ in 0..<3 { #expect(threads.runNext()) }
        #expect(order == ["refused first", "refused second", "gateway"])
    }

    @Test func ownerHasOneReadThatWaitsAfterTheStop() {
        let threads = threads()
        threads.stop()
        for name in ["first", "second"] { add(name, 1, for: .user(1, of: 1), to: threads) }
        add("other", 1, for: .user(2, of: 1), to: threads)
        #expect(order == ["refused second"])
        for _ in 0..<2 { #expect(threads.runNext()) }
        #expect(order.sorted() == ["first", "other", "refused second"])
    }
}
