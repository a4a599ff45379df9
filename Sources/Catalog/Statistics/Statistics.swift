import Accounts
import Basics
import Database

/// The rules of GetStatistics.
struct Statistics: Sendable {
    static let defaultDays: Int32 = 30
    static let maximumDays: Int32 = 400

    /// A day, and the amount stored at its end.
    struct Day: Sendable {
        let record: DayRecord
        let stored: Amount
    }

    let database: Database
    let clock: any WallClock

    /// Returns today and the days before it, oldest first.
    func days(_ count: Int32, for user: UserPrincipal) async throws -> [Day] {
        let today = StatisticsSchema.day(of: clock.now())
        let first = today - Int64(count) + 1
        let (before, found) = try await database.readInBackground { connection in
            let records = StatisticsRecords(connection)
            return (
                try records.stored(before: first, scope: user.objectScope),
                try records.days(from: first, scope: user.objectScope)
            )
        }
        let records = Dictionary(uniqueKeysWithValues: found.map { ($0.day, $0) })
        var stored = before
        return (first...today).map { day in
            let record = records[day] ?? DayRecord(day: day)
            stored.objects += record.arrived.objects - record.deleted.objects
            stored.bytes += record.arrived.bytes - record.deleted.bytes
            return Day(record: record, stored: stored)
        }
    }
}
