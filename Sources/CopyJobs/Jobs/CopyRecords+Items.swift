import Basics
import Database

private let itemColumns = """
    job_id, number, file_id, upload_id, object_key, state, size, copied_bytes, attempts, failures, first_failure_at,
    multipart_id, part_size, error_code, error_message
    """

private let claimColumns = "claimed_by, claimed_until, claims"

extension CopyRecords {
    func insert(_ item: CopyItem) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_items (\(itemColumns), due_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0)
            """, item.jobID, item.number, item.fileID, item.uploadID, item.key, item.state.rawValue, item.size,
            item.copiedBytes, item.attempts, item.failures, item.firstFailureAt?.microseconds, item.multipart?.id,
            item.multipart?.partSize, item.errorCode, item.errorMessage)
    }

    func item(_ number: Int, of jobID: String) throws -> CopyItem? {
        try connection.first(
            "SELECT \(itemColumns), \(claimColumns) FROM copy_items WHERE job_id = $1 AND number = $2", jobID, number,
            row: Self.item)
    }

    /// Returns the row of an item that a worker has taken; `nil` if it was deleted with its job.
    ///
    /// - Throws: ``CopyClaimLost`` if the claim has ended and the item was returned to the queue.
    func claimed(_ item: CopyItem) throws -> CopyItem? {
        guard let current = try self.item(item.number, of: item.jobID) else { return nil }
        guard current.state == .copying, current.claim.number == item.claim.number else { throw CopyClaimLost() }
        return current
    }

    /// Returns items in the order of the request.
    ///
    /// - Parameters:
    ///   - states: the states to include.
    ///   - number: the number of the item after which the list begins.
    func items(of jobID: String, in states: [CopyItemState], after number: Int, limit: PageLimit) throws -> PageRows<
        CopyItem
    > {
        try connection.page(
            limit,
            """
            SELECT \(itemColumns), \(claimColumns) FROM copy_items WHERE job_id = $1 AND number > $2
            AND state IN (\(Self.list(states))) ORDER BY number LIMIT $3
            """, jobID, number, limit.statementRows, row: Self.item)
    }

    func tally(of jobID: String) throws -> CopyTally {
        let counts = try connection.query(
            """
            SELECT state, count(*) AS items, sum(copied_bytes) AS copied_bytes FROM copy_items
            WHERE job_id = $1 GROUP BY state
            """, jobID
        ) { ($0.int64("state"), $0.int("items"), $0.int64("copied_bytes")) }
        return counts.reduce(into: CopyTally()) { tally, row in
            if let state = CopyItemState(rawValue: row.0) { tally[state] = row.1 }
            tally.copiedBytes += row.2
        }
    }

    /// Returns the first of a job's items that is due.
    func nextItem(of jobID: String, at now: UnixTime) throws -> CopyItem? {
        try connection.first(
            """
            SELECT \(itemColumns), \(claimColumns) FROM copy_items
            WHERE job_id = $1 AND state = 1 AND due_at <= $2
            ORDER BY number LIMIT 1
            """, jobID, now.microseconds, row: Self.item)
    }

    /// Returns the time when the next waiting item is due; `nil` if none waits.
    func nextDue(after now: UnixTime) throws -> UnixTime? {
        try connection.first(
            "SELECT due_at FROM copy_items WHERE state = 1 AND due_at > $1 ORDER BY due_at LIMIT 1", now.microseconds
        ) { $0.time("due_at") }
    }

    /// Writes the columns that can change.
    ///
    /// - Parameter due: the time before which no worker takes the item.
    func update(_ item: CopyItem, due: UnixTime = UnixTime(microseconds: 0)) throws where C == Connection {
        try connection.execute(
            """
            UPDATE copy_items SET state = $3, copied_bytes = $4, attempts = $5, failures = $6, first_failure_at = $7,
                due_at = $8, multipart_id = $9, part_size = $10, error_code = $11, error_message = $12,
                claimed_by = $13, claimed_until = $14, claims = $15
            WHERE job_id = $1 AND number = $2
            """, item.jobID, item.number, item.state.rawValue, item.copiedBytes, item.attempts, item.failures,
            item.firstFailureAt?.microseconds, due.microseconds, item.multipart?.id, item.multipart?.partSize,
            item.errorCode, item.errorMessage, item.claim.holder, item.claim.until.microseconds, item.claim.number)
    }

    /// Cancels the items that no worker has taken yet. Items with remains of an attempt become due now, so that a worker removes
    /// these.
    ///
    /// - Returns: the number of canceled items.
    func cancelQueued(of jobID: String) throws -> Int where C == Connection {
        let canceled = try connection.execute(
            "UPDATE copy_items SET state = $2 WHERE job_id = $1 AND state = 1 AND attempts = 0", jobID,
            CopyItemState.canceled.rawValue)
        try connection.execute("UPDATE copy_items SET due_at = 0 WHERE job_id = $1 AND state = 1", jobID)
        return canceled
    }

    /// Returns an item that its worker could not finish to the queue, due at `due`, unless another worker has taken it since.
    func requeue(_ item: CopyItem, due: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE copy_items SET state = 1, due_at = $3 WHERE job_id = $1 AND number = $2 AND state = 2 AND claims = $4
            """, item.jobID, item.number, due.microseconds, item.claim.number)
    }

    /// Returns the items that an earlier process was copying to the queue.
    func requeueCopying() throws where C == Connection {
        try connection.execute("UPDATE copy_items SET state = 1, due_at = 0 WHERE state = 2")
    }

    /// Returns the items of a process to the queue.
    func requeueCopying(by holder: String) throws where C == Connection {
        try connection.execute(
            "UPDATE copy_items SET state = 1, due_at = 0 WHERE state = 2 AND claimed_by = $1", holder)
    }

    /// Whether there is an item whose claim has ended.
    func hasEndedClaims(at now: UnixTime) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM copy_items WHERE state = 2 AND claimed_until <= $1", now.microseconds)
    }

    /// Returns the items whose claims have ended to the queue.
    ///
    /// - Returns: their number.
    func requeueEndedClaims(at now: UnixTime) throws -> Int where C == Connection {
        try connection.execute(
            "UPDATE copy_items SET state = 1, due_at = 0 WHERE state = 2 AND claimed_until <= $1", now.microseconds)
    }

    /// Renews the claim on an item.
    ///
    /// - Returns: `false` if the item was returned to the queue, or deleted with its job.
    func renewClaim(on item: CopyItem, until end: UnixTime) throws -> Bool where C == Connection {
        try connection.execute(
            """
            UPDATE copy_items SET claimed_until = $4 WHERE job_id = $1 AND number = $2 AND state = 2 AND claims = $3
            """, item.jobID, item.number, item.claim.number, end.microseconds) > 0
    }

    /// Returns an SQL list, in a canonical order so that few statements are prepared.
    private static func list(_ states: [CopyItemState]) -> String {
        let all = states.isEmpty ? CopyItemState.allCases : states
        return Set(all.map(\.rawValue)).sorted().map(String.init).joined(separator: ", ")
    }

    private static func item(_ row: Row) -> CopyItem {
        CopyItem(
            jobID: row.text("job_id"), number: row.int("number"), fileID: row.text("file_id"),
            uploadID: row.text("upload_id"), key: row.text("object_key"),
            state: CopyItemState(rawValue: row.int64("state")) ?? .failed, size: row.int64("size"),
            copiedBytes: row.int64("copied_bytes"),
            attempts: row.int("attempts"), failures: row.int("failures"),
            firstFailureAt: row.optionalTime("first_failure_at"),
            multipart: row.optionalText("multipart_id").map {
                CopyItem.Multipart(id: $0, partSize: row.int64("part_size"))
            },
            errorCode: row.text("error_code"), errorMessage: row.text("error_message"),
            claim: CopyItem.Claim(
                number: row.int64("claims"), holder: row.optionalText("claimed_by"), until: row.time("claimed_until")))
    }
}

struct CopyClaim: Sendable, Hashable {
    let organizationID: Int64
    /// Whether the organization has written the path.
    let isWritten: Bool
    /// The file whose copy has the path; `nil` = unknown, as for claims of earlier versions.
    var fileID: String?
}

/// Claims of organizations on paths of shared destinations: a path belongs to the organization that writes it first.
///
/// Claims on written paths remain when the job or the organization is deleted, so that no other organization overwrites the
/// existing data.
extension CopyRecords {
    /// Returns the existing claim on a path, or else a new one of this organization.
    ///
    /// A claim on an unwritten path expires when its organization has no job in progress.
    ///
    /// - Parameter fileID: the file that a new claim is for.
    func claim(
        _ path: String, organizationID: Int64, fileID: String? = nil
    ) throws -> CopyClaim where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written, file_id) VALUES ($1, $2, 0, $3)
            ON CONFLICT (path) DO UPDATE SET organization_id = excluded.organization_id, file_id = excluded.file_id
            WHERE copy_claims.is_written = 0 AND NOT EXISTS (
                SELECT 1 FROM copy_jobs WHERE organization_id = copy_claims.organization_id AND finished_at IS NULL)
            """, path, organizationID, fileID)
        return try connection.first(
            "SELECT organization_id, is_written, file_id FROM copy_claims WHERE path = $1", path
        ) {
            CopyClaim(
                organizationID: $0.int64("organization_id"), isWritten: $0.bool("is_written"),
                fileID: $0.optionalText("file_id"))
        } ?? CopyClaim(organizationID: organizationID, isWritten: false, fileID: fileID)
    }

    /// Whether a copy of another file has the path, or is about to.
    func isTaken(_ path: String, byOtherThan fileID: String) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM copy_claims WHERE path = $1 AND coalesce(file_id, '') <> $2", path, fileID)
    }

    func noteWritten(_ path: String, organizationID: Int64, fileID: String? = nil) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written, file_id) VALUES ($1, $2, 1, $3)
            ON CONFLICT (path) DO UPDATE SET is_written = 1, file_id = excluded.file_id
            WHERE copy_claims.organization_id = excluded.organization_id
            """, path, organizationID, fileID)
    }

    /// Releases the claim on an unwritten path, unless it is another file's.
    func release(_ path: String, organizationID: Int64, fileID: String? = nil) throws where C == Connection {
        try connection.execute(
            """
            DELETE FROM copy_claims
            WHERE path = $1 AND organization_id = $2 AND is_written = 0 AND coalesce(file_id, '') = $3
            """, path, organizationID, fileID ?? "")
    }
}
