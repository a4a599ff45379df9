import Basics
import Database

/// The tables of ``BackupRecords``.
enum BackupSchema {
    static let migrations = [
        Migration(
            name: "backup-runs-1",
            sql: """
                -- schedule, place: the configuration's name of the schedule, and the name of its destination.
                -- state: 1 running, 2 kept, 3 removed by the rotation, 4 failed. multipart_id: the upload to a bucket.
                -- lost_objects: those that were missing or damaged. reason: why it failed.
                CREATE TABLE backup_runs (
                    id INTEGER PRIMARY KEY,
                    schedule TEXT NOT NULL,
                    place TEXT NOT NULL,
                    archive TEXT NOT NULL,
                    state INTEGER NOT NULL,
                    started_at INTEGER NOT NULL,
                    finished_at INTEGER,
                    duration INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    objects INTEGER NOT NULL,
                    lost_objects INTEGER NOT NULL,
                    multipart_id TEXT,
                    reason TEXT NOT NULL
                ) STRICT;
                CREATE INDEX backup_runs_by_schedule ON backup_runs (schedule, state, id);
                """),
        Migration(
            name: "backup-runs-2",
            sql: """
                -- One row at most: the end of the last complete backup that somebody took without a schedule.
                CREATE TABLE manual_backups (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    finished_at INTEGER NOT NULL
                ) STRICT;
                """),
    ]
}

/// The number of rows of ended runs that are kept for each schedule, besides those of kept archives.
private let history = 50
private let columns = """
    id, archive, state, started_at, finished_at, duration, size, objects, lost_objects, multipart_id
    """

/// All SQL of scheduled backups. Times and durations are microseconds.
struct BackupRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Adds a run that begins.
    func begin(_ schedule: BackupSchedule, at now: UnixTime) throws -> ScheduledRun where C == Connection {
        let id = try connection.first("SELECT coalesce(max(id), 0) + 1 AS next FROM backup_runs") { $0.int64("next") }
        let run = ScheduledRun(id: id ?? 1, archive: schedule.archive(of: id ?? 1, at: now), startedAt: now)
        try connection.execute(
            """
            INSERT INTO backup_runs (id, schedule, place, archive, state, started_at, duration, size, objects,
                lost_objects, reason)
            VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, '')
            """, run.id, schedule.name, schedule.destination.name, run.archive, run.state.rawValue,
            now.microseconds)
        return run
    }

    /// Records the end of a complete backup that no schedule took.
    func noteManual(at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO manual_backups (id, finished_at) VALUES (1, $1)
            ON CONFLICT (id) DO UPDATE SET finished_at = excluded.finished_at
            """, now.microseconds)
    }

    /// Returns the end of the last complete backup that no schedule took; `nil` = none.
    func lastManual() throws -> UnixTime? {
        try connection.first("SELECT finished_at FROM manual_backups") { $0.time("finished_at") }
    }

    func setMultipartID(_ multipartID: String, of id: Int64) throws where C == Connection {
        try connection.execute("UPDATE backup_runs SET multipart_id = $2 WHERE id = $1", id, multipartID)
    }

    /// Writes the state, the result and the reason of a failure, and forgets the oldest ended runs of the schedule.
    func end(_ run: ScheduledRun, reason: String = "", of schedule: String) throws where C == Connection {
        try connection.execute(
            """
            UPDATE backup_runs SET state = $2, finished_at = $3, duration = $4, size = $5, objects = $6,
                lost_objects = $7, reason = $8 WHERE id = $1
            """, run.id, run.state.rawValue, run.result.finishedAt?.microseconds,
            Int64(run.result.duration / .microseconds(1)), run.result.size, run.result.objects, run.result.lostObjects,
            reason)
        let removed = ScheduledRun.State.removed.rawValue
        let failed = ScheduledRun.State.failed.rawValue
        try connection.execute(
            """
            DELETE FROM backup_runs WHERE schedule = $1 AND state IN (\(removed), \(failed)) AND id NOT IN (
                SELECT id FROM backup_runs WHERE schedule = $1 AND state IN (\(removed), \(failed))
                ORDER BY id DESC LIMIT $2)
            """, schedule, history)
    }

    func setState(_ state: ScheduledRun.State, of id: Int64) throws where C == Connection {
        try connection.execute("UPDATE backup_runs SET state = $2 WHERE id = $1", id, state.rawValue)
    }

    /// Returns the latest complete run, whether its archive is still kept or not; `nil` if no run was complete.
    func lastComplete(_ schedule: BackupSchedule) throws -> ScheduledRun? {
        try connection.first(
            """
            SELECT \(columns) FROM backup_runs
            WHERE schedule = $1 AND place = $2 AND state IN (2, 3) ORDER BY id DESC LIMIT 1
            """, schedule.name, schedule.destination.name, row: Self.run)
    }

    /// Returns the runs in a state, newest first.
    func runs(of schedule: BackupSchedule, in state: ScheduledRun.State) throws -> [ScheduledRun] {
        try connection.query(
            """
            SELECT \(columns) FROM backup_runs
            WHERE schedule = $1 AND place = $2 AND state = $3 ORDER BY id DESC
            """, schedule.name, schedule.destination.name, state.rawValue, row: Self.run)
    }

    private static func run(_ row: Row) -> ScheduledRun {
        ScheduledRun(
            id: row.int64("id"), archive: row.text("archive"),
            state: ScheduledRun.State(rawValue: row.int64("state")) ?? .failed, startedAt: row.time("started_at"),
            multipartID: row.optionalText("multipart_id"),
            result: ScheduledRun.Result(
                finishedAt: row.optionalTime("finished_at"), duration: .microseconds(row.int64("duration")),
                size: row.int64("size"), objects: row.int("objects"), lostObjects: row.int("lost_objects")))
    }
}
