import Basics
import Database

private let sweepSize = 500
private let select = """
    SELECT position, id, from_umid, to_umid, message, status, answer, created_at, expires_at FROM status_requests
    """

/// The SQL of requests for a status.
struct StatusRequestRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(_ id: String) throws -> StatusRequestRecord? {
        try connection.first("\(select) WHERE id = $1", id, row: Self.record)
    }

    /// - Parameters:
    ///   - message: encrypted.
    ///   - origin: the digest of the caller's address.
    func insert(
        _ request: StatusRequest, message: [UInt8], origin: [UInt8], at now: UnixTime, expiresAt: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO status_requests (id, from_umid, to_umid, message, status, created_at, expires_at, origin)
            VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7)
            """, request.id, request.sender, request.addressee, message, now.microseconds, expiresAt.microseconds,
            origin)
    }

    /// Counts the stored requests that an address has sent, up to `limit`.
    func count(ofOrigin origin: [UInt8], limit: Int) throws -> Int {
        try connection.first(
            "SELECT count(*) AS count FROM (SELECT 1 FROM status_requests WHERE origin = $1 LIMIT $2) sent", origin,
            limit
        ) { $0.int("count") } ?? 0
    }

    /// Counts the requests to a umid that can be answered, at most `limit` of them, and those of them that were never delivered.
    func open(to umid: String, at now: UnixTime, limit: Int) throws -> (all: Int, new: Int) {
        let states = try connection.query(
            """
            SELECT delivered_at FROM status_requests
            WHERE to_umid = $1 AND answered_at IS NULL AND expires_at > $2 LIMIT $3
            """, umid, now.microseconds, limit
        ) { $0.isNull("delivered_at") }
        return (states.count, states.filter { $0 }.count)
    }

    /// Returns requests to a umid that can be answered, in the order of their arrival.
    func inbox(
        of umid: String, after position: Int64, onlyNew: Bool, at now: UnixTime, limit: Int
    ) throws -> [StatusRequestRecord] {
        try connection.query(
            """
            \(select)
            WHERE to_umid = $1 AND position > $2 AND answered_at IS NULL AND expires_at > $3
                AND (CAST($4 AS BIGINT) = 0 OR delivered_at IS NULL)
            ORDER BY position LIMIT $5
            """, umid, position, now.microseconds, onlyNew, limit, row: Self.record)
    }

    func markDelivered(_ positions: [Int64], at now: UnixTime) throws where C == Connection {
        for position in positions {
            try connection.execute(
                """
                UPDATE status_requests SET status = 'delivered', delivered_at = $2
                WHERE position = $1 AND delivered_at IS NULL AND answered_at IS NULL
                """, position, now.microseconds)
        }
    }

    /// - Parameter data: encrypted; `nil` = none.
    func answer(
        _ position: Int64, _ state: StatusRequestState, data: [UInt8]?, at now: UnixTime, expiresAt: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            UPDATE status_requests
            SET status = $2, answer = $3, delivered_at = coalesce(delivered_at, $4), answered_at = $4, expires_at = $5
            WHERE position = $1
            """, position, state.rawValue, data, now.microseconds, expiresAt.microseconds)
    }

    /// Erases the contents of requests after their end.
    ///
    /// - Returns: the number of requests, of which there may be more.
    func eraseEnded(at now: UnixTime) throws -> Int where C == Connection {
        try connection.execute(
            """
            UPDATE status_requests SET message = NULL, answer = NULL WHERE position IN (
                SELECT position FROM status_requests WHERE message IS NOT NULL AND expires_at <= $1
                ORDER BY expires_at LIMIT $2)
            """, now.microseconds, sweepSize)
    }

    func hasEnded(at now: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM status_requests WHERE message IS NOT NULL AND expires_at <= $1 LIMIT 1",
            now.microseconds)
    }

    /// Removes rows that ended before `limit`.
    ///
    /// - Returns: the number of rows, of which there may be more.
    func deleteEnded(before limit: UnixTime, _ permit: DeletionPermit) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM status_requests WHERE position IN (
                SELECT position FROM status_requests WHERE \(permit.isBefore("expires_at", "$1"))
                ORDER BY expires_at LIMIT $2)
            """, limit.microseconds, sweepSize)
    }

    func hasEnded(before limit: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM status_requests WHERE expires_at < $1 ORDER BY expires_at LIMIT 1", limit.microseconds)
    }

    /// Removes requests from and to a umid.
    ///
    /// - Returns: the number of rows, of which there may be more.
    func delete(of umid: String) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM status_requests WHERE position IN (
                SELECT position FROM status_requests WHERE from_umid = $1 OR to_umid = $1 LIMIT $2)
            """, umid, sweepSize)
    }

    func count() throws -> Int {
        try connection.first("SELECT count(*) AS count FROM status_requests") { $0.int("count") } ?? 0
    }

    private static func record(_ row: Row) -> StatusRequestRecord {
        StatusRequestRecord(
            position: row.int64("position"), id: row.text("id"), sender: row.text("from_umid"),
            addressee: row.text("to_umid"), message: row.isNull("message") ? nil : row.blob("message"),
            storedState: StatusRequestState(rawValue: row.text("status")) ?? .pending,
            answer: row.isNull("answer") ? nil : row.blob("answer"), createdAt: row.time("created_at"),
            expiresAt: row.time("expires_at"))
    }
}

/// A row of a request for a status.
struct StatusRequestRecord: Sendable, Hashable {
    let position: Int64
    let id: String
    let sender: String
    let addressee: String
    /// The encrypted message; `nil` after the end.
    let message: [UInt8]?
    /// The state without regard to the time.
    let storedState: StatusRequestState
    /// The encrypted data of the answer; `nil` before the answer, for an answer without data, and after the end.
    let answer: [UInt8]?
    let createdAt: UnixTime
    let expiresAt: UnixTime

    func state(at now: UnixTime) -> StatusRequestState {
        storedState.isAnswer || now < expiresAt ? storedState : .expired
    }
}
