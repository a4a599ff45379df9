import Basics
import Foundation
import TestSupport
import Testing

@testable import ObjectStore

/// Random schedules of requests at gateways that have a database and a bucket in common: whatever their order, an object has the bytes of
/// its ETag and of its CRC-64, and what a client stored later is not replaced by what it stored before.
///
/// `LAB_SEEDS` sets the number of schedules, `LAB_SEED` selects a single one.
@Suite(.timeLimited) struct ReplicaTests {
    /// The number of schedules that share a database: rows of earlier ones slow down later ones.
    private static let schedulesOfADatabase: UInt64 = 50

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func bytesAreThoseOfTheirETagsAtAllReplicas() throws {
        let seeds = Self.number("LAB_SEED").map { $0...$0 } ?? 1...(Self.number("LAB_SEEDS") ?? 200)
        var replicas = try Replicas(count: 3)
        var counts = (succeeded: 0, all: 0, failures: 0)
        for seed in seeds where counts.failures < 3 {
            if seed % Self.schedulesOfADatabase == 0 { replicas = try Replicas(count: 3) }
            var schedule = ReplicaSchedule(seed: seed, replicas)
            do {
                try schedule.run()
            } catch {
                counts.failures += 1
                Issue.record("\(error)")
            }
            counts.succeeded += schedule.counts.succeeded
            counts.all += schedule.counts.all
        }
        // A model of which most requests are refused would show little.
        #expect(counts.failures > 0 || counts.succeeded * 2 > counts.all, "\(counts)")
    }

    /// A segment of an append is scheduled for removal until it has a row.
    @Test func segmentsThatGetARowMeanwhileAreKept() throws {
        let replicas = try Replicas(count: 2)
        _ = try replicas.run(.append("a", content(100)), at: 0, nil)
        let append = StoppedRequest.begin { try replicas.run(.append("a", content(50, seed: 2)), at: 0, nil) }
        while try replicas.scheduledRemovals().isEmpty { #expect(try append.proceed() == nil) }
        // The other gateway leaves it alone.
        replicas.removeFiles(at: 1)
        let scheduled = try replicas.scheduledRemovals()
        try #require(scheduled.count == 1)
        let removal = StoppedRequest.begin {
            _ = try replicas.stores[1].engine.removeDurably(scheduled)
            return nil
        }
        // It has read that the segment has no row, and is about to remove it.
        for _ in 0..<3 { #expect(try removal.proceed() == nil) }
        while try append.proceed() == nil {}
        while try removal.proceed() == nil {}
        #expect(try replicas.read("a") == content(100) + content(50, seed: 2))
    }

    @Test func segmentsOfWhichTheRemovalHasBegunGetNoRow() throws {
        let replicas = try Replicas(count: 2)
        _ = try replicas.run(.append("a", content(100)), at: 0, nil)
        let append = StoppedRequest.begin { try replicas.run(.append("a", content(50, seed: 2)), at: 0, nil) }
        while try replicas.scheduledRemovals().isEmpty { #expect(try append.proceed() == nil) }
        _ = try replicas.stores[1].engine.removeDurably(replicas.scheduledRemovals())
        var result: Result<String?, any Error>?
        while result == nil { result = try append.proceed() }
        #expect(throws: WritesInFlight.Revoked.self) { try result?.get() }
        #expect(try replicas.read("a") == content(100))
    }

    @Test func deletionOfAnEarlierObjectRemovesNoLaterOne() throws {
        let replicas = try Replicas(count: 2)
        _ = try replicas.run(.put("a", content(100)), at: 0, nil)
        let deletion = StoppedRequest.begin { try replicas.run(.delete("a"), at: 0, nil) }
        // It has read the object, and is about to delete it.
        for _ in 0..<2 { #expect(try deletion.proceed() == nil) }
        _ = try replicas.run(.put("a", content(50, seed: 2)), at: 1, nil)
        while try deletion.proceed() == nil {}
        #expect(try replicas.read("a") == content(50, seed: 2))
        _ = try replicas.run(.delete("a"), at: 0, nil)
        #expect(try replicas.object("a") == nil)
    }

    @Test func deletionOfSeveralObjectsRemovesNoLaterOnes() throws {
        let replicas = try Replicas(count: 2)
        for name in ["a", "b"] { _ = try replicas.run(.put(name, content(100)), at: 0, nil) }
        let deletion = StoppedRequest.begin {
            try replicas.deleteAll(["a", "b", "c"], at: 0)
            return nil
        }
        for _ in 0..<2 { #expect(try deletion.proceed() == nil) }
        for name in ["a", "c"] { _ = try replicas.run(.put(name, content(50, seed: 2)), at: 1, nil) }
        while try deletion.proceed() == nil {}
        for name in ["a", "c"] { #expect(try replicas.read(name) == content(50, seed: 2)) }
        #expect(try replicas.object("b") == nil)
    }

    @Test func removalsPauseAtAllReplicas() async throws {
        let replicas = try Replicas(count: 2)
        for seed in 1...2 { _ = try replicas.run(.put("a", content(100, seed: UInt64(seed))), at: 0, nil) }
        let scheduled = try replicas.scheduledRemovals()
        try #require(!scheduled.isEmpty)
        try await replicas.stores[0].keepingFiles {
            replicas.removeFiles(at: 1)
            let kept = try replicas.scheduledRemovals()
            #expect(kept == scheduled)
        }
        replicas.removeFiles(at: 1)
        #expect(try replicas.scheduledRemovals() == [])
    }

    @Test func pauseOfAGatewayThatHasEndedEnds() throws {
        let replicas = try Replicas(count: 1)
        for seed in 1...2 { _ = try replicas.run(.put("a", content(100, seed: UInt64(seed))), at: 0, nil) }
        try replicas.pauseRemovals(until: UnixTime(seconds: 9_000_000_000))
        replicas.removeFiles(at: 0)
        #expect(try replicas.scheduledRemovals() != [])
        try replicas.pauseRemovals(until: UnixTime(seconds: 1))
        replicas.removeFiles(at: 0)
        #expect(try replicas.scheduledRemovals() == [])
    }

    @Test func downloadsEndWithTheBytesThatTheyBeganWith() throws {
        let replicas = try Replicas(count: 2, removalDelay: .hours(1))
        let bodies = [content(100), content(80, seed: 2)]
        _ = try replicas.run(.put("a", bodies[0]), at: 0, nil)
        let object = try #require(try replicas.object("a"))
        let download = try replicas.stores[0].open(object)
        _ = try replicas.run(.put("a", bodies[1]), at: 1, nil)
        replicas.removeFiles(at: 1)
        var received: [UInt8] = []
        try download.forEachPiece { received += $0 }
        #expect(received == bodies[0])
        #expect(try replicas.read("a") == bodies[1])
    }
}
