import Basics
import Crypto
import StoreClient
import StoreProtocol
import TestSupport
import Testing

@testable import Backup

/// The times at which scheduled backups are due, the names of their archives, and the choice of those that are removed.
@Suite(.timeLimited) struct BackupScheduleTests {
    private static func schedule(minutes: Int64, offset: Duration = .zero) -> BackupSchedule {
        var schedule = BackupSchedule(name: "nightly", destination: BackupFolder(root: "/backups"))
        schedule.interval = .seconds(60 * minutes)
        schedule.offset = offset
        return schedule
    }

    private static let midnight = UnixTime(seconds: 1_795_392_000)

    @Test func firstBackupIsDueAtOnce() {
        #expect(Self.schedule(minutes: 1440).isDue(at: Self.midnight, last: nil))
    }

    @Test func eachIntervalNeedsOneBackup() {
        let schedule = Self.schedule(minutes: 1440, offset: .seconds(7200))
        let atTwo = Self.midnight.adding(seconds: 7200)
        #expect(!schedule.isDue(at: atTwo.adding(seconds: 86_399), last: atTwo))
        #expect(schedule.isDue(at: atTwo.adding(seconds: 86_400), last: atTwo))
        #expect(schedule.isDue(at: atTwo, last: atTwo.adding(seconds: -1)))
    }

    @Test(arguments: [-400 * 86_400, -86_400, 86_400, 400 * 86_400] as [Int64])
    func steppedClockMakesOneMoreBackupDue(step: Int64) {
        let schedule = Self.schedule(minutes: 1440)
        let now = Self.midnight.adding(seconds: 3600)
        let stepped = now.adding(seconds: step)
        #expect(schedule.isDue(at: stepped, last: now))
        #expect(!schedule.isDue(at: stepped.adding(seconds: 60), last: stepped))
    }

    @Test func timesBefore1970HaveIntervals() {
        let schedule = Self.schedule(minutes: 60)
        #expect(!schedule.isDue(at: UnixTime(seconds: -1), last: UnixTime(seconds: -3600)))
        #expect(schedule.isDue(at: UnixTime(seconds: 0), last: UnixTime(seconds: -1)))
    }

    @Test func archiveIsNamedAfterScheduleTimeAndNumber() {
        #expect(Self.schedule(minutes: 60).archive(of: 17, at: Self.midnight) == "nightly-20261123T000000Z-17.backup")
    }

    private static func runs(_ lost: Int...) -> [ScheduledRun] {
        lost.enumerated().map { index, lost in
            ScheduledRun(
                id: Int64(100 - index), archive: "a\(index)", state: .kept, startedAt: UnixTime(seconds: 0),
                result: ScheduledRun.Result(lostObjects: lost))
        }
    }

    @Test func rotationRemovesTheOldestBeyondTheNumber() {
        #expect(BackupRotation.surplus(of: Self.runs(0, 0, 0, 0), keeping: 2).map(\.id) == [98, 97])
        #expect(BackupRotation.surplus(of: Self.runs(0, 0), keeping: 2).isEmpty)
    }

    @Test func rotationKeepsTheNewestWithAllObjects() {
        #expect(BackupRotation.surplus(of: Self.runs(1, 2, 3, 0, 0), keeping: 2).map(\.id) == [98, 96])
        #expect(BackupRotation.surplus(of: Self.runs(1, 1, 1), keeping: 2).map(\.id) == [98])
    }

    @Test(arguments: [0, 5 << 30, 3 << 40, 40 << 40] as [Int64])
    func partsAreLargeEnoughForTheirLimit(size: Int64) throws {
        let bucket = BackupBucket(
            StoreObject(endpoint: try StoreEndpoint("http://127.0.0.1:1"), bucket: "backups", key: ""),
            credentials: SigningCredentials(accessKeyID: "id", secret: Secret("secret")), partSize: 64 << 20,
            authorities: nil)
        let partSize = bucket.partSize(for: size)
        #expect(partSize >= 64 << 20 && partSize % (1 << 20) == 0)
        #expect((size + size / 4) / partSize < PartRange.maximumCount)
    }
}
