import Basics
import Database

/// The tables of ``ObjectOperationRecords``.
enum ObjectOperationSchema {
    static let migration = Migration(
        name: "catalog-operations",
        sql: """
            -- filter: ages in it count to created_at. first_position: objects from there on came later. next_position:
            -- objects from there on are done. objects, bytes: removed so far.
            CREATE TABLE object_operations (
                id TEXT PRIMARY KEY,
                organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                filter TEXT NOT NULL,
                reason TEXT NOT NULL,
                actor TEXT NOT NULL,
                state INTEGER NOT NULL,
                first_position INTEGER NOT NULL,
                next_position INTEGER NOT NULL,
                objects INTEGER NOT NULL,
                bytes INTEGER NOT NULL,
                created_at INTEGER NOT NULL,
                finished_at INTEGER
            ) STRICT;
            CREATE INDEX object_operations_by_organization ON object_operations (organization_id, id);
            CREATE INDEX object_operations_running ON object_operations (id) WHERE finished_at IS NULL;
            CREATE INDEX object_operations_finished ON object_operations (finished_at) WHERE finished_at IS NOT NULL;
            """)

    static let undoMigration = Migration(
        name: "catalog-undo",
        sql: """
            -- kind: 1 = delete, 2 = restore, 3 = purge, 4 = undo of the operation undone_id.
            ALTER TABLE object_operations ADD COLUMN kind INTEGER NOT NULL DEFAULT 1;
            ALTER TABLE object_operations ADD COLUMN undone_id TEXT;

            -- The operation that moved the object to the trash; NULL = none, or one of a version that did not record it.
            ALTER TABLE objects ADD COLUMN trash_operation_id TEXT;
            CREATE INDEX objects_by_trash_operation ON objects (trash_operation_id, position, size)
                WHERE trash_operation_id IS NOT NULL;
            """)

    static let zoneMigration = Migration(
        name: "catalog-operations-2",
        sql: """
            -- time_zone: of the days in the filter; empty = UTC.
            ALTER TABLE object_operations ADD COLUMN time_zone TEXT NOT NULL DEFAULT '';
            """)
}

private let columns = """
    id, organization_id, filter, reason, actor, state, first_position, next_position, objects, bytes, created_at,
    finished_at, kind, undone_id, time_zone
    """

/// The SQL of operations on many objects.
struct ObjectOperationRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the position after the newest object.
    func endOfObjects() throws -> Int64 {
        try connection.first("SELECT coalesce(max(position), 0) + 1 AS next FROM objects") { $0.int64("next") } ?? 1
    }

    func insert(_ operation: BulkOperation) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO object_operations (\(columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            """, operation.id, operation.organizationID, operation.filter, operation.reason, operation.actor,
            operation.state.rawValue, operation.firstPosition, operation.nextPosition, operation.processed.objects,
            operation.processed.bytes, operation.createdAt.microseconds, operation.finishedAt?.microseconds,
            operation.kind.rawValue, operation.undoneID, operation.timeZone)
    }

    /// Writes the state and the progress.
    func update(_ operation: BulkOperation) throws where C == Connection {
        try connection.execute(
            """
            UPDATE object_operations SET state = $2, next_position = $3, objects = $4, bytes = $5, finished_at = $6
            WHERE id = $1
            """, operation.id, operation.state.rawValue, operation.nextPosition, operation.processed.objects,
            operation.processed.bytes, operation.finishedAt?.microseconds)
    }

    /// - Parameter scope: the organization; `nil` = any.
    func operation(_ id: String, scope: Int64?) throws -> BulkOperation? {
        try connection.first(
            """
            SELECT \(columns) FROM object_operations
            WHERE id = $1 AND organization_id = coalesce($2, organization_id)
            """, id, scope, row: Self.operation)
    }

    /// Returns the operations of an organization, newest first.
    ///
    /// - Parameter last: only operations older than this one; empty = from the newest on.
    func operations(organizationID: Int64, after last: String, limit: PageLimit) throws -> PageRows<BulkOperation> {
        // After the greatest id, which has letters and digits only.
        let bound = last.isEmpty ? "~" : last
        return try connection.page(
            limit,
            """
            SELECT \(columns) FROM object_operations
            WHERE organization_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3
            """, organizationID, bound, limit.statementRows, row: Self.operation)
    }

    /// Returns the ids of unfinished operations of each organization, oldest first.
    func running() throws -> [[String]] {
        let rows = try connection.query(
            "SELECT organization_id, id FROM object_operations WHERE finished_at IS NULL ORDER BY organization_id, id"
        ) { (organizationID: $0.int64("organization_id"), id: $0.text("id")) }
        return Dictionary(grouping: rows, by: \.organizationID).sorted { $0.key < $1.key }.map { $0.value.map(\.id) }
    }

    func countRunning(organizationID: Int64) throws -> Int {
        try connection.first(
            "SELECT count(*) AS running FROM object_operations WHERE finished_at IS NULL AND organization_id = $1",
            organizationID
        ) { $0.int("running") } ?? 0
    }

    /// Deletes operations that finished at least `time` ago.
    ///
    /// - Returns: the number of deleted operations; fewer than `limit` if none is left.
    func forget(finishedFor time: Duration, _ permit: DeletionPermit, limit: Int) throws -> Int where C == Connection {
        let oldest = try permit.now().subtracting(time)
        return try connection.execute(
            """
            DELETE FROM object_operations WHERE id IN (
                SELECT id FROM object_operations WHERE \(permit.isBefore("finished_at", "$1"))
                ORDER BY finished_at LIMIT $2)
            """, oldest.microseconds, limit)
    }

    private static func operation(_ row: Row) -> BulkOperation {
        BulkOperation(
            id: row.text("id"), organizationID: row.int64("organization_id"),
            kind: BulkOperation.Kind(rawValue: row.int64("kind")) ?? .delete, undoneID: row.optionalText("undone_id"),
            filter: row.text("filter"), timeZone: row.text("time_zone"), reason: row.text("reason"),
            actor: row.text("actor"),
            createdAt: row.time("created_at"),
            firstPosition: row.int64("first_position"),
            state: BulkOperation.State(rawValue: row.int64("state")) ?? .canceled,
            nextPosition: row.int64("next_position"),
            processed: Amount(objects: row.int64("objects"), bytes: row.int64("bytes")),
            finishedAt: row.optionalTime("finished_at"))
    }
}
