import Basics
import Database
import TestSupport
import Testing

@testable import Backup

/// The rows of scheduled backups: what is kept, and what is forgotten.
@Suite(.timeLimited) struct BackupRecordsTests {
    private let scratch = Scratch()
    private let schedule = BackupSchedule(name: "nightly", destination: BackupFolder(root: "/backups"))
    private let now = UnixTime(seconds: 1_795_392_000)

    private func withRecords<T: Sendable>(_ body: @escaping @Sendable (BackupRecords<Connection>) throws -> T)
        async throws -> T
    {
        let database = try Database(path: scratch.path + "/gateway.db", migrations: BackupSchema.migrations)
        defer { database.close() }
        return try await database.write { try body(BackupRecords($0)) }
    }

    @Test func runIsReadAsItEnded() async throws {
        let (ended, found) = try await withRecords { [schedule, now] records in
            var run = try records.begin(schedule, at: now)
            try records.setMultipartID("multipart", of: run.id)
            run.multipartID = "multipart"
            run.state = .kept
            run.result = ScheduledRun.Result(
                finishedAt: now.adding(seconds: 9), duration: .milliseconds(8500), size: 77, objects: 3, lostObjects: 1)
            try records.end(run, of: schedule.name)
            return (run, try records.lastComplete(schedule))
        }
        #expect(ended == found)
    }

    @Test func anotherDestinationHasItsOwnRuns() async throws {
        let found = try await withRecords { [schedule, now] records in
            var run = try records.begin(schedule, at: now)
            run.state = .kept
            try records.end(run, of: schedule.name)
            let moved = BackupSchedule(name: "nightly", destination: BackupFolder(root: "/elsewhere"))
            return (try records.lastComplete(moved), try records.runs(of: moved, in: .kept))
        }
        #expect(found.0 == nil && found.1.isEmpty)
    }

    @Test func oldFailuresAreForgottenAndKeptArchivesAreNot() async throws {
        let (kept, failed) = try await withRecords { [schedule, now] records in
            for number in 0..<120 {
                var run = try records.begin(schedule, at: now)
                run.state = number < 10 ? .kept : .failed
                try records.end(run, reason: "a test", of: schedule.name)
            }
            return (try records.runs(of: schedule, in: .kept), try records.runs(of: schedule, in: .failed))
        }
        #expect(kept.count == 10)
        #expect(failed.count == 50 && failed.first?.id == 120)
    }
}
