import Basics
import DatabaseTesting
import TestSupport
import Testing

@testable import Database

/// Work that one process of all does at a time.
@Suite(.timeLimited) struct LeaseHoldingTests {
    /// A clock that a test sets, and with it the leases of two processes.
    private final class Processes: Sendable {
        let database: Database
        private let scratch: Scratch
        private let offset = Lock(Duration.zero)
        private let begin = ContinuousClock.now

        init() throws {
            scratch = try Scratch()
            database = try scratch.database()
            try database.writeBlocking { connection in
                _ = try connection.execute("CREATE TABLE lease_clock (at BIGINT NOT NULL)")
                _ = try connection.execute("INSERT INTO lease_clock (at) VALUES (1)")
            }
        }

        var now: ContinuousClock.Instant { begin + offset.withLock { $0 } }

        /// Returns the leases of another process.
        func process() -> Leases {
            Leases(ServerLeases(scratch.server, now: "(SELECT at FROM lease_clock)")) { [self] in now }
        }

        func pass(_ seconds: Int64) throws {
            offset.withLock { $0 += .seconds(seconds) }
            try database.writeBlocking { connection in
                _ = try connection.execute("UPDATE lease_clock SET at = at + $1", seconds * 1_000_000)
            }
        }

        func write(_ body: String, under lease: Lease) async throws {
            try await Lease.$current.withValue(lease) {
                try await database.write { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
            }
        }
    }

    @Test(.onSQLite) func processWithAFileHasAllLeases() async throws {
        let database = try Scratch().database()
        defer { database.close() }
        let runs = Lock(0)
        try await database.leases.hold("work") {
            #expect(Lease.current == nil)
            try await database.leases.hold("work") { runs.withLock { $0 += 1 } }
        }
        #expect(try await database.leases.holdOnce("work") { runs.withLock { $0 += 1 } })
        #expect(runs.withLock { $0 } == 2)
    }

    @Test(.onPostgres) func stoppedHolderWritesNothing() async throws {
        let processes = try Processes()
        defer { processes.database.close() }
        let (first, second) = (processes.process(), processes.process())
        let stopped = try #require(await first.take("work"))
        #expect(await second.take("work") == nil)
        try await processes.write("before", under: stopped)
        try stopped.requireBatch(at: processes.now)
        try processes.pass(31)
        // It is stopped, and nobody has taken its lease yet.
        await #expect(throws: LeaseLost(name: "work")) { try await processes.write("late", under: stopped) }
        let next = try #require(await second.take("work"))
        #expect(next.generation == stopped.generation + 1)
        await #expect(throws: LeaseLost(name: "work")) { try await processes.write("late", under: stopped) }
        #expect(throws: LeaseLost(name: "work")) { try stopped.requireBatch(at: processes.now) }
        #expect(await first.renew([stopped]).count == 1)
        try await processes.write("next", under: next)
        #expect(try processes.database.notes() == ["before", "next"])
    }

    @Test(.onPostgres) func renewalKeepsALease() async throws {
        let processes = try Processes()
        defer { processes.database.close() }
        let (first, second) = (processes.process(), processes.process())
        let lease = try #require(await first.take("work"))
        for _ in 0..<5 {
            try processes.pass(20)
            // A batch would end after the lease.
            #expect(throws: LeaseLost(name: "work")) { try lease.requireBatch(at: processes.now + .seconds(1)) }
            #expect(await first.renew([lease]).isEmpty)
            try lease.requireBatch(at: processes.now + .seconds(20))
            #expect(await second.take("work") == nil)
        }
        #expect(await second.take("other") != nil)
    }

    @Test(.onPostgres) func oneRenewalIsOfAllLeasesOfAProcess() async throws {
        let processes = try Processes()
        defer { processes.database.close() }
        let (first, second) = (processes.process(), processes.process())
        var leases: [Lease] = []
        for name in ["a", "b's", "c"] { leases.append(try #require(await first.take(name))) }
        try processes.pass(31)
        let taken = try #require(await second.take("c"))
        #expect(await first.renew(leases).map(\.name) == ["c"])
        #expect(await second.take("a") == nil)
        #expect(await second.renew([taken]).isEmpty)
    }

    @Test(.onPostgres) func otherProcessesSeeTheWorkUnderALease() async throws {
        let processes = try Processes()
        defer { processes.database.close() }
        let (first, second) = (processes.process(), processes.process())
        #expect(try await second.work(under: "work") == nil)
        let result = try await first.holding("work", for: "reading") { lease in
            #expect(try await second.work(under: "work") == "reading")
            #expect(try await second.holding("work", for: "writing") { _ in 2 } == nil)
            try await processes.write("first", under: try #require(lease))
            return 1
        }
        #expect(result == 1)
        #expect(try await second.work(under: "work") == nil)
        #expect(try await second.holding("work", for: "writing") { _ in 2 } == 2)
    }

    @Test(.onPostgres) func threadHoldsALease() throws {
        let processes = try Processes()
        defer { processes.database.close() }
        let (first, second) = (processes.process(), processes.process())
        let result = try first.holdingBlocking("work") {
            #expect(Lease.current?.name == "work")
            let other = try second.holdingBlocking("work") { 2 }
            #expect(other == nil)
            return 1
        }
        #expect(result == 1)
        #expect(try second.holdingBlocking("work") { 2 } == 2)
    }

    @Test(.onPostgres) func leaseIsGivenUpAfterItsWork() async throws {
        let processes = try Processes()
        defer { processes.database.close() }
        let (first, second) = (processes.process(), processes.process())
        let hasRun = try await first.holdOnce("work") {
            #expect(Lease.current?.name == "work")
            let runsTwice = try await second.holdOnce("work") {}
            #expect(!runsTwice)
        }
        #expect(hasRun)
        #expect(try await second.holdOnce("work") {})
    }
}
