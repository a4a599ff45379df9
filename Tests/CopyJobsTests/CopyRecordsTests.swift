import Basics
import Database
import TestSupport
import Testing

@testable import CopyJobs

/// The queue of items, over a real database.
@Suite(.timeLimited) struct CopyRecordsTests {
    private let scene: Scene
    private let database: Database

    init() throws {
        scene = try Scene()
        database = scene.database
    }

    private func at(_ seconds: Int64) -> UnixTime { UnixTime(seconds: seconds) }

    /// Takes the next item, like a worker.
    private func claim(_ now: Int64) throws -> String? {
        try database.writeBlocking { connection in
            let (records, now) = (CopyRecords(connection), UnixTime(seconds: now))
            guard let job = try records.next(organizationID: 1, at: now),
                var item = try records.nextItem(of: job.id, at: now)
            else { return nil }
            item.state = .copying
            item.attempts += 1
            try records.update(item)
            try records.setClaimed(job.id, at: now)
            return "\(job.id)\(item.number)"
        }
    }

    @Test func jobsOfferTheirItemsInTurn() throws {
        try scene.add("a", items: 3)
        try scene.add("b", items: 2)
        #expect(try (10...15).map { try claim($0) } == ["a0", "b0", "a1", "b1", "a2", nil])
    }

    @Test func failedItemWaitsUntilItIsDue() throws {
        try scene.add("a", items: 1)
        #expect(try claim(10) == "a0")
        try database.writeBlocking { connection in
            let records = CopyRecords(connection)
            var item = try #require(try records.item(0, of: "a"))
            item.state = .queued
            item.errorCode = "DESTINATION_UNAVAILABLE"
            try records.update(item, due: UnixTime(seconds: 20))
        }
        #expect(try claim(19) == nil)
        #expect(try database.readBlocking { try CopyRecords($0).nextDue(after: UnixTime(seconds: 19)) } == at(20))
        #expect(try claim(20) == "a0")
    }

    @Test func itemsOfAnEndedProcessAreRequeued() throws {
        try scene.add("a", items: 2)
        #expect(try claim(10) == "a0")
        try database.writeBlocking { try CopyRecords($0).requeueCopying() }
        #expect(try claim(11) == "a0")
        let item = try database.readBlocking { try CopyRecords($0).item(0, of: "a") }
        #expect(item?.attempts == 2)
    }

    @Test func aCancellationLeavesWhatHasToBeClearedAway() throws {
        try scene.add("a", items: 3)
        #expect(try claim(10) == "a0")
        try database.writeBlocking { connection in
            let records = CopyRecords(connection)
            try records.requeueCopying()
            #expect(try records.cancelQueued(of: "a") == 2)
        }
        let tally = try database.readBlocking { try CopyRecords($0).tally(of: "a") }
        #expect(tally[.canceled] == 2 && tally[.queued] == 1)
    }

    @Test func unfinishedJobsAndItemsAreCounted() throws {
        try scene.add("a", items: 3)
        try scene.add("b", items: 2)
        #expect(try claim(10) == "a0")
        try database.writeBlocking { connection in
            let records = CopyRecords(connection)
            for (id, state, end) in [("a", CopyJobState.running, nil), ("b", .failed, UnixTime(seconds: 11))] {
                var job = try #require(try records.job(id, scope: 1))
                (job.state, job.finishedAt) = (state, end)
                try records.update(job)
            }
        }
        let counts = try database.readBlocking { try CopyRecords($0).countUnfinished() }
        #expect(counts.jobs == [.running: 1])
        #expect(counts.items == [.queued: 2, .copying: 1])
    }

    @Test func jobsAreFoundByKeyAndForgotten() throws {
        try scene.add("a", items: 2, key: "k")
        try scene.add("b", items: 1)
        let found = try database.readBlocking {
            try CopyRecords($0).job(idempotencyKey: "k", organizationID: 1, userID: 7)
        }
        #expect(found?.job.id == "a" && found?.digest == [1, 2] && found?.job.items == 2)
        #expect(
            try database.readBlocking { try CopyRecords($0).job(idempotencyKey: "k", organizationID: 1, userID: 8) }
                == nil)
        #expect(try database.readBlocking { try CopyRecords($0).job("a", scope: 2) } == nil)
        #expect(try database.readBlocking { try CopyRecords($0).countUnfinished(organizationID: 1) } == 2)
        try database.writeBlocking { connection in
            let records = CopyRecords(connection)
            var job = try #require(try records.job("a", scope: 1))
            job.state = .failed
            job.finishedAt = UnixTime(seconds: 100)
            try records.update(job)
            let clock = ManualClock(UnixTime(seconds: 200))
            let permit = try #require(ClockGuard(clock: clock).permit())
            #expect(try records.forget(finishedFor: .seconds(100), permit, limit: 10) == 0)
            clock.advance(seconds: 1)
            #expect(try records.forget(finishedFor: .seconds(100), permit, limit: 10) == 1)
        }
        #expect(try database.readBlocking { try CopyRecords($0).item(0, of: "a") } == nil)
        #expect(try database.readBlocking { try CopyRecords($0).job("b", scope: 1)?.state } == .queued)
    }

    @Test func aPathIsOfWhoWroteItOrIsAboutTo() throws {
        let scene = try Scene()
        func claim(_ organizationID: Int64) throws -> CopyClaim {
            try scene.database.writeBlocking { try CopyRecords($0).claim("p", organizationID: organizationID) }
        }
        try scene.add("a", items: 1)
        #expect(try claim(1) == CopyClaim(organizationID: 1, isWritten: false))
        #expect(try claim(2) == CopyClaim(organizationID: 1, isWritten: false))
        // The organization has no job in progress any more.
        _ = try scene.database.writeBlocking { try $0.execute("UPDATE copy_jobs SET finished_at = 1") }
        #expect(try claim(2) == CopyClaim(organizationID: 2, isWritten: false))
        try scene.database.writeBlocking { connection in
            try CopyRecords(connection).noteWritten("p", organizationID: 1)
            try CopyRecords(connection).release("p", organizationID: 1)
        }
        #expect(try claim(2) == CopyClaim(organizationID: 2, isWritten: false))
        try scene.database.writeBlocking { connection in
            try CopyRecords(connection).noteWritten("p", organizationID: 2)
            try CopyRecords(connection).release("p", organizationID: 2)
        }
        #expect(try claim(1) == CopyClaim(organizationID: 2, isWritten: true))
    }
}
