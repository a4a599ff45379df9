import Basics
import Dispatch
import Synchronization

/// The state of a server as of the latest look at it; `nil` = the program's role may not know.
package struct ServerSample: Sendable {
    /// The version of the server, such as `15.20`.
    package let version: String
    /// The size of the database in bytes.
    package let bytes: Int64
    /// The connections of clients, and their largest number.
    package let connections: Int64
    package let connectionLimit: Int64
    /// The rows of the tables of counters that are visible, and those that wait for a vacuum.
    package let liveRows: Int64
    package let deadRows: Int64
    /// The number of transactions since the oldest one whose rows are not frozen.
    package let transactionAge: Int64
    /// The age in seconds of the oldest transaction that keeps dead rows, of the roles that the program's role may see.
    package let oldestTransaction: Double
    /// The number of transactions since the oldest snapshot of a replication slot.
    package let oldestSlotAge: Int64
    /// The standbys for which commits wait; `nil` also if none is required.
    package let synchronousStandbys: Int64?
    /// The part of the log that the slowest of them has not on its disk, in bytes, and in seconds.
    package let standbyLagBytes: Int64?
    package let standbyLag: Double?
    /// By how much the server's clock is ahead of this machine's, at least.
    package let clockDifference: Duration
}

/// A look at the state of a server every 15 seconds, on a thread and a connection of its own.
final class ServerStatistics: Sendable {
    private static let interval = Duration.seconds(15)
    /// The longest wait for the answer.
    private static let limit = Duration.seconds(10)
    private final class Latest: Sendable {
        /// `nil` if the latest look failed.
        let sample = Lock<ServerSample?>(nil)
    }

    private let latest = Latest()
    private let closing = DispatchSemaphore(value: 0)

    var sample: ServerSample? { latest.sample.withLock { $0 } }

    init(_ server: PostgresServer) {
        Worker.thread("statistics").post { [latest, closing] in
            var session: PostgresSession?
            repeat {
                let sample = try? Self.look(at: server, by: &session)
                latest.sample.withLock { $0 = sample }
            } while closing.wait(timeout: .now() + .nanoseconds(Int(Self.interval.nanoseconds))) == .timedOut
        }
    }

    func close() { closing.signal() }

    private static func look(
        at server: PostgresServer, by session: inout PostgresSession?
    ) throws(DatabaseError) -> ServerSample {
        let current: PostgresSession
        if let session { current = session } else { current = try PostgresSession(server, .reader) }
        session = current
        if current.link.isLost || current.link.isOfFormerPrimary { try current.reconnect() }
        return try current.sample(atMost: limit)
    }
}

extension PostgresSession {
    /// Reads the state of the server.
    func sample(atMost limit: Duration) throws(DatabaseError) -> ServerSample {
        let begin = SystemClock().now()
        let result = try run(Self.sampleQuery, atMost: limit)
        let end = SystemClock().now()
        func number(_ column: Int32) -> Double { Double(result.text(0, column)) ?? 0 }
        func integer(_ column: Int32) -> Int64 { Int64(result.text(0, column)) ?? 0 }
        let isVisible = result.text(0, 12) == "t"
        return ServerSample(
            version: result.text(0, 0), bytes: integer(1), connections: integer(2), connectionLimit: integer(3),
            liveRows: integer(4), deadRows: integer(5), transactionAge: integer(6), oldestTransaction: number(7),
            oldestSlotAge: integer(8), synchronousStandbys: isVisible ? integer(9) : nil,
            standbyLagBytes: isVisible ? integer(10) : nil, standbyLag: isVisible ? number(11) : nil,
            clockDifference: UnixTime(microseconds: integer(13)).clockDifference(between: begin, and: end))
    }

    private static let sampleQuery =
        """
        WITH standbys AS (
            SELECT count(*) AS number, coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)), 0)::bigint AS bytes,
                coalesce(max(extract(epoch FROM flush_lag)), 0) AS seconds
            FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')
        ), counters AS (
            SELECT coalesce(sum(n_live_tup), 0)::bigint AS live, coalesce(sum(n_dead_tup), 0)::bigint AS dead
            FROM pg_stat_user_tables WHERE relid IN (SELECT inhrelid FROM pg_inherits)
                AND schemaname = current_schema()
        ), transactions AS (
            SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) AS seconds
            FROM pg_stat_activity
            WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
        )
        SELECT split_part(current_setting('server_version'), ' ', 1), pg_database_size(current_database()),
            (SELECT sum(numbackends) FROM pg_stat_database), current_setting('max_connections'), counters.live, counters.dead,
            (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()), transactions.seconds,
            (SELECT coalesce(max(greatest(age(xmin), age(catalog_xmin))), 0) FROM pg_replication_slots),
            standbys.number, standbys.bytes, standbys.seconds,
            pg_has_role('pg_read_all_stats', 'USAGE') AND current_setting('synchronous_standby_names') <> '',
            CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)
        FROM standbys, counters, transactions
        """
}
