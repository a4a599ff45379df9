import Accounts
import Basics
import Database

/// The refused calls of a device for one reason.
struct RefusalRecord: Sendable, Hashable {
    /// The detail code of the error, or its status.
    let reason: String
    /// The message of the last error.
    let message: String
    let count: Int64
    let firstAt: UnixTime
    let lastAt: UnixTime

    /// Returns the refusals of a device, the latest first, with those that are not written yet.
    static func merge(_ written: [RefusalRecord], _ pending: [String: RefusalTally]) -> [RefusalRecord] {
        var records = Dictionary(written.map { ($0.reason, $0) }) { first, _ in first }
        for (reason, tally) in pending {
            let known = records[reason]
            records[reason] = RefusalRecord(
                reason: reason, message: tally.message, count: (known?.count ?? 0) + tally.count,
                firstAt: known?.firstAt ?? tally.firstAt, lastAt: tally.lastAt)
        }
        return records.values.sorted { ($1.lastAt, $0.reason) < ($0.lastAt, $1.reason) }
    }
}

/// The refused calls that had a device's credential or its token.
struct RefusalRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Adds calls to the count; after a day without such calls, it starts again.
    func add(_ tally: RefusalTally, _ reason: String, of deviceID: String) throws where C == Connection {
        let day = Duration.days(1)
        // A device that was deleted meanwhile has no refusals.
        try connection.execute(
            """
            INSERT INTO device_refusals (device_id, reason, message, count, first_at, last_at)
            SELECT id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT)
            FROM devices WHERE id = $1
            ON CONFLICT (device_id, reason) DO UPDATE SET
                message = excluded.message,
                count = excluded.count
                    + (CASE WHEN device_refusals.last_at >= $7 THEN device_refusals.count ELSE 0 END),
                first_at =
                    (CASE WHEN device_refusals.last_at >= $7 THEN device_refusals.first_at ELSE excluded.first_at END),
                last_at = excluded.last_at
            """, deviceID, reason, tally.message, tally.count, tally.firstAt.microseconds,
            tally.lastAt.microseconds, tally.firstAt.subtracting(day).microseconds)
    }

    /// Returns the refusals of a device, the latest first.
    func all(of deviceID: String) throws -> [RefusalRecord] {
        try connection.query(
            """
            SELECT reason, message, count, first_at, last_at FROM device_refusals WHERE device_id = $1
            ORDER BY last_at DESC, reason
            """, deviceID
        ) { row in
            RefusalRecord(
                reason: row.text("reason"), message: row.text("message"), count: row.int64("count"),
                firstAt: row.time("first_at"), lastAt: row.time("last_at"))
        }
    }
}
