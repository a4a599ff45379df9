import Basics
import Database

/// The objects that arrived, were deleted and were requested on one day in UTC.
struct DayRecord: Sendable, Equatable {
    /// The number of the day since 1970-01-01.
    let day: Int64
    var arrived = Amount()
    var deleted = Amount()
    var requested = Amount()
}

/// A number of objects and the sum of their bytes.
struct Amount: Sendable, Equatable {
    var objects: Int64 = 0
    var bytes: Int64 = 0
}

/// The tables of ``StatisticsRecords``.
enum StatisticsSchema {
    private static let microsecondsPerDay: Int64 = 86_400_000_000

    static let migration = Migration(
        name: "catalog-statistics",
        sql: """
            -- day: since 1970-01-01, by UTC. requested: files that RequestDownload handed out URLs for.
            CREATE TABLE object_days (
                organization_id INTEGER NOT NULL,
                day INTEGER NOT NULL,
                arrived_objects INTEGER NOT NULL DEFAULT 0,
                arrived_bytes INTEGER NOT NULL DEFAULT 0,
                deleted_objects INTEGER NOT NULL DEFAULT 0,
                deleted_bytes INTEGER NOT NULL DEFAULT 0,
                requested_objects INTEGER NOT NULL DEFAULT 0,
                requested_bytes INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (organization_id, day)
            ) STRICT, WITHOUT ROWID;

            CREATE TRIGGER object_days_arrived AFTER INSERT ON objects BEGIN
                INSERT INTO object_days (organization_id, day, arrived_objects, arrived_bytes)
                VALUES (NEW.organization_id, NEW.verified_at / \(microsecondsPerDay), 1, NEW.size)
                ON CONFLICT (organization_id, day) DO UPDATE SET
                    arrived_objects = arrived_objects + 1, arrived_bytes = arrived_bytes + excluded.arrived_bytes;
            END;
            CREATE TRIGGER object_days_deleted AFTER INSERT ON deleted_objects BEGIN
                INSERT INTO object_days (organization_id, day, deleted_objects, deleted_bytes)
                VALUES (NEW.organization_id, NEW.deleted_at / \(microsecondsPerDay), 1, NEW.size)
                ON CONFLICT (organization_id, day) DO UPDATE SET
                    deleted_objects = deleted_objects + 1, deleted_bytes = deleted_bytes + excluded.deleted_bytes;
            END;

            INSERT INTO object_days (organization_id, day, arrived_objects, arrived_bytes, deleted_objects, deleted_bytes)
            SELECT organization_id, day, sum(arrived), sum(arrived * size), sum(1 - arrived), sum((1 - arrived) * size)
            FROM (
                SELECT organization_id, verified_at / \(microsecondsPerDay) AS day, 1 AS arrived, size FROM objects
                UNION ALL
                SELECT organization_id, verified_at / \(microsecondsPerDay), 1, size FROM deleted_objects
                UNION ALL
                SELECT organization_id, deleted_at / \(microsecondsPerDay), 0, size FROM deleted_objects
            ) GROUP BY organization_id, day;
            """)

    static func day(of time: UnixTime) -> Int64 { time.microseconds / microsecondsPerDay }
}

/// The SQL of statistics.
///
/// Triggers update the sums of each day in the transaction of each change, so that a chart does not require reading a catalog of
/// ten million objects.
struct StatisticsRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Counts downloads of objects of one organization on the day of `now`.
    func addRequested(_ amount: Amount, organizationID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO object_days (organization_id, day, requested_objects, requested_bytes) VALUES ($1, $2, $3, $4)
            ON CONFLICT (organization_id, day) DO UPDATE SET
                requested_objects = object_days.requested_objects + excluded.requested_objects,
                requested_bytes = object_days.requested_bytes + excluded.requested_bytes
            """, organizationID, StatisticsSchema.day(of: now), amount.objects, amount.bytes)
    }

    /// Returns the amount stored at the beginning of a day.
    ///
    /// - Parameter scope: the organization; `nil` = all.
    func stored(before day: Int64, scope: Int64?) throws -> Amount {
        try connection.first(
            """
            SELECT coalesce(sum(arrived_objects - deleted_objects), 0) AS objects,
                coalesce(sum(arrived_bytes - deleted_bytes), 0) AS bytes
            FROM object_days WHERE organization_id = coalesce($1, organization_id) AND day < $2
            """, scope, day
        ) { Amount(objects: $0.int64("objects"), bytes: $0.int64("bytes")) } ?? Amount()
    }

    /// Returns the bytes of stored objects without those of deleted ones, of all organizations, by day. Days without a change are omitted.
    func changes(in days: Range<Int64>) throws -> [Int64: Int64] {
        let changes = try connection.query(
            """
            SELECT day, sum(arrived_bytes - deleted_bytes) AS bytes FROM object_days
            WHERE organization_id IN (SELECT id FROM organizations) AND day >= $1 AND day < $2
                AND arrived_objects + deleted_objects > 0
            GROUP BY day
            """, days.lowerBound, days.upperBound
        ) { ($0.int64("day"), $0.int64("bytes")) }
        return Dictionary(uniqueKeysWithValues: changes)
    }

    /// Returns the days with any event from `first` on, in order.
    func days(from first: Int64, scope: Int64?) throws -> [DayRecord] {
        try connection.query(
            """
            SELECT day, sum(arrived_objects) AS arrived_objects, sum(arrived_bytes) AS arrived_bytes,
                sum(deleted_objects) AS deleted_objects, sum(deleted_bytes) AS deleted_bytes,
                sum(requested_objects) AS requested_objects, sum(requested_bytes) AS requested_bytes
            FROM object_days WHERE organization_id = coalesce($1, organization_id) AND day >= $2
            GROUP BY day ORDER BY day
            """, scope, first
        ) { row in
            DayRecord(
                day: row.int64("day"),
                arrived: Amount(objects: row.int64("arrived_objects"), bytes: row.int64("arrived_bytes")),
                deleted: Amount(objects: row.int64("deleted_objects"), bytes: row.int64("deleted_bytes")),
                requested: Amount(objects: row.int64("requested_objects"), bytes: row.int64("requested_bytes")))
        }
    }
}
