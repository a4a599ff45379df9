import Basics
import Database

/// The tables of ``CopyRecords``.
enum CopySchema {
    static let migrations = [
        Migration(
            name: "copies-1",
            sql: """
                -- endpoint, bucket, region, key_template: as the request had them; the credential is the configuration's.
                -- claimed_at: when a worker last took one of its items; jobs take turns by it.
                CREATE TABLE copy_jobs (
                    id TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                    user_id INTEGER NOT NULL,
                    idempotency_key TEXT,
                    request_digest BLOB NOT NULL,
                    endpoint TEXT NOT NULL,
                    bucket TEXT NOT NULL,
                    region TEXT NOT NULL,
                    key_template TEXT NOT NULL,
                    state INTEGER NOT NULL,
                    items INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    started_at INTEGER,
                    finished_at INTEGER,
                    claimed_at INTEGER NOT NULL,
                    reason TEXT NOT NULL
                ) STRICT;
                CREATE UNIQUE INDEX copy_jobs_by_idempotency_key
                    ON copy_jobs (organization_id, user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
                CREATE INDEX copy_jobs_unfinished ON copy_jobs (claimed_at, created_at) WHERE finished_at IS NULL;
                CREATE INDEX copy_jobs_finished ON copy_jobs (finished_at) WHERE finished_at IS NOT NULL;

                -- due_at: before then no worker takes it. multipart_id, part_size: of what an attempt began there.
                CREATE TABLE copy_items (
                    job_id TEXT NOT NULL REFERENCES copy_jobs (id) ON DELETE CASCADE,
                    number INTEGER NOT NULL,
                    file_id TEXT NOT NULL,
                    upload_id TEXT NOT NULL,
                    object_key TEXT NOT NULL,
                    state INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    copied_bytes INTEGER NOT NULL,
                    attempts INTEGER NOT NULL,
                    failures INTEGER NOT NULL,
                    first_failure_at INTEGER,
                    due_at INTEGER NOT NULL,
                    multipart_id TEXT,
                    part_size INTEGER,
                    error_code TEXT NOT NULL,
                    error_message TEXT NOT NULL,
                    PRIMARY KEY (job_id, number)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX copy_items_by_state ON copy_items (job_id, state, number);
                CREATE INDEX copy_items_due ON copy_items (due_at) WHERE state = 1;
                CREATE INDEX copy_items_copying ON copy_items (job_id) WHERE state = 2;
                """),
        Migration(
            name: "copies-2",
            sql: """
                -- path: the file or object, from the destination's root on. is_written: 0 while it is about to be.
                CREATE TABLE copy_claims (
                    path TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL,
                    is_written INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                INSERT INTO copy_claims (path, organization_id, is_written)
                    SELECT rtrim(j.endpoint, '/') || CASE j.bucket WHEN '' THEN '' ELSE '/' || j.bucket END
                        || '/' || i.object_key, j.organization_id, 1
                    FROM copy_jobs j JOIN copy_items i ON i.job_id = j.id WHERE i.state = 3
                    ORDER BY j.created_at DESC
                    ON CONFLICT DO NOTHING;
                """),
        Migration(
            name: "copies-3",
            sql: "CREATE INDEX copy_jobs_by_organization ON copy_jobs (organization_id, id);"),
        Migration(
            name: "copies-4",
            sql: """
                -- file_id: the file whose copy has the path; NULL = one of a version that did not record it.
                ALTER TABLE copy_claims ADD COLUMN file_id TEXT;
                """),
        Migration(
            name: "copies-5",
            sql: """
                -- claimed_by, claimed_until: the process that copies the item, until then by the database's clock. claims: how often the item
                -- was taken.
                ALTER TABLE copy_items ADD COLUMN claimed_by TEXT;
                ALTER TABLE copy_items ADD COLUMN claimed_until INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE copy_items ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
                """,
            postgres: """
                ALTER TABLE copy_items ADD COLUMN claimed_by TEXT COLLATE "C";
                ALTER TABLE copy_items ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
                ALTER TABLE copy_items ADD COLUMN claims BIGINT NOT NULL DEFAULT 0;
                """, compatibility: .expanding),
    ]
}

private let columns = """
    id, organization_id, user_id, endpoint, bucket, region, key_template, state, items, size, created_at,
    started_at, finished_at, reason
    """

/// All SQL of copy jobs. Times are microseconds since 1970.
struct CopyRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// - Parameters:
    ///   - key: the idempotency key; `nil` = none.
    ///   - digest: the digest of the request.
    func insert(_ job: CopyJob, _ items: [CopyItem], idempotencyKey key: String?, digest: [UInt8]) throws
    where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_jobs (id, organization_id, user_id, idempotency_key, request_digest, endpoint, bucket, region,
                key_template, state, items, size, created_at, claimed_at, reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, '')
            """, job.id, job.organizationID, job.userID, key, digest, job.place.endpoint, job.place.bucket,
            job.place.region, job.template.text, job.state.rawValue, job.items, job.size, job.createdAt.microseconds)
        for item in items { try insert(item) }
    }

    /// - Parameter scope: the organization; `nil` = any.
    func job(_ id: String, scope: Int64?) throws -> CopyJob? {
        try connection.first(
            "SELECT \(columns) FROM copy_jobs WHERE id = $1 AND organization_id = coalesce($2, organization_id)",
            id, scope, row: Self.job)
    }

    /// Returns jobs, newest first. Ids begin with the time at which they were made.
    ///
    /// - Parameters:
    ///   - scope: the organization; `nil` = any.
    ///   - before: the id after which the list continues; `nil` = from the newest on.
    func jobs(scope: Int64?, before id: String?, limit: PageLimit) throws -> PageRows<CopyJob> {
        // After the greatest id, which has digits only.
        let bound = id ?? "~"
        if let scope {
            return try connection.page(
                limit,
                """
                SELECT \(columns) FROM copy_jobs WHERE organization_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3
                """, scope, bound, limit.statementRows, row: Self.job)
        }
        return try connection.page(
            limit, "SELECT \(columns) FROM copy_jobs WHERE id < $1 ORDER BY id DESC LIMIT $2", bound,
            limit.statementRows, row: Self.job)
    }

    /// Returns the job that a user created with an idempotency key, and the digest of its request.
    func job(
        idempotencyKey key: String, organizationID: Int64, userID: Int64
    ) throws -> (job: CopyJob, digest: [UInt8])? {
        try connection.first(
            """
            SELECT \(columns), request_digest FROM copy_jobs
            WHERE organization_id = $1 AND user_id = $2 AND idempotency_key = $3
            """, organizationID, userID, key
        ) { (Self.job($0), $0.blob("request_digest")) }
    }

    /// Returns the jobs that are being canceled.
    func canceling() throws -> [String] {
        try connection.query(
            "SELECT id FROM copy_jobs WHERE finished_at IS NULL AND state = $1", CopyJobState.canceling.rawValue
        ) { $0.text("id") }
    }

    func countUnfinished(organizationID: Int64) throws -> Int {
        try connection.first(
            "SELECT count(*) AS jobs FROM copy_jobs WHERE organization_id = $1 AND finished_at IS NULL", organizationID
        ) { $0.int("jobs") } ?? 0
    }

    /// Counts unfinished jobs and items of all organizations.
    func countUnfinished() throws -> CopyMetrics.Unfinished {
        let jobs = try connection.query(
            "SELECT state, count(*) AS jobs FROM copy_jobs WHERE finished_at IS NULL GROUP BY state"
        ) { (CopyJobState(rawValue: $0.int64("state")), $0.int("jobs")) }
        // CROSS JOIN fixes the order: first the jobs, which are few compared with all stored items.
        let items = try connection.query(
            """
            SELECT i.state, count(*) AS items FROM copy_jobs j CROSS JOIN copy_items i
            WHERE j.finished_at IS NULL AND i.job_id = j.id AND i.state IN (1, 2) GROUP BY i.state
            """
        ) { (CopyItemState(rawValue: $0.int64("state")), $0.int("items")) }
        return CopyMetrics.Unfinished(
            jobs: jobs.reduce(into: [:]) { counts, row in row.0.map { counts[$0] = row.1 } },
            items: items.reduce(into: [:]) { counts, row in row.0.map { counts[$0] = row.1 } }
        )
    }

    /// Writes the state, times and reason.
    func update(_ job: CopyJob) throws where C == Connection {
        try connection.execute(
            "UPDATE copy_jobs SET state = $2, started_at = $3, finished_at = $4, reason = $5 WHERE id = $1", job.id,
            job.state.rawValue, job.startedAt?.microseconds, job.finishedAt?.microseconds, job.reason)
    }

    func setClaimed(_ id: String, at now: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE copy_jobs SET claimed_at = $2 WHERE id = $1", id, now.microseconds)
    }

    /// Returns the organizations that have a job with an item that is due.
    func organizations(at now: UnixTime) throws -> [Int64] {
        try connection.query(
            """
            SELECT DISTINCT j.organization_id FROM copy_jobs j WHERE j.finished_at IS NULL AND EXISTS (
                SELECT 1 FROM copy_items i WHERE i.job_id = j.id AND i.state = 1 AND i.due_at <= $1)
            ORDER BY j.organization_id
            """, now.microseconds
        ) { $0.int64("organization_id") }
    }

    /// Returns an organization's next job in turn: of those with an item that is due, the one that waited longest.
    func next(organizationID: Int64, at now: UnixTime) throws -> CopyJob? {
        try connection.first(
            """
            SELECT \(columns) FROM copy_jobs j
            WHERE j.organization_id = $1 AND j.finished_at IS NULL AND EXISTS (
                SELECT 1 FROM copy_items i WHERE i.job_id = j.id AND i.state = 1 AND i.due_at <= $2)
            ORDER BY j.claimed_at, j.created_at LIMIT 1
            """, organizationID, now.microseconds, row: Self.job)
    }

    /// Deletes jobs that finished at least `time` ago, with their items.
    ///
    /// - Returns: the number of deleted jobs; fewer than `limit` if none is left.
    func forget(finishedFor time: Duration, _ permit: DeletionPermit, limit: Int) throws -> Int where C == Connection {
        let oldest = try permit.now().subtracting(time)
        return try connection.execute(
            """
            DELETE FROM copy_jobs WHERE id IN (
                SELECT id FROM copy_jobs WHERE \(permit.isBefore("finished_at", "$1")) ORDER BY finished_at LIMIT $2)
            """, oldest.microseconds, limit)
    }

    private static func job(_ row: Row) -> CopyJob {
        CopyJob(
            id: row.text("id"), organizationID: row.int64("organization_id"), userID: row.int64("user_id"),
            place: CopyPlace(endpoint: row.text("endpoint"), bucket: row.text("bucket"), region: row.text("region")),
            template: KeyTemplate(row.text("key_template")),
            state: CopyJobState(rawValue: row.int64("state")) ?? .failed,
            createdAt: row.time("created_at"),
            startedAt: row.optionalTime("started_at"),
            finishedAt: row.optionalTime("finished_at"), reason: row.text("reason"),
            items: row.int("items"), size: row.int64("size"))
    }
}
