import Basics
import CPQ
import Dispatch
import Synchronization

/// The latest timeline of a server and its standbys. A standby that becomes the primary begins a new one, so a server with an earlier
/// timeline is a former primary, which must neither be read nor written.
final class Timelines: Sendable {
    private let latest = Atomic<Int64>(0)

    /// Notes the timeline of a server that accepts writes.
    ///
    /// - Returns: whether there is no later one.
    func note(_ timeline: Int64) -> Bool {
        latest.max(timeline, ordering: .sequentiallyConsistent).newValue == timeline
    }

    func isLatest(_ timeline: Int64) -> Bool { latest.load(ordering: .sequentiallyConsistent) <= timeline }

    static let formerPrimary = DatabaseError.unavailable("the server is a former primary: another one has replaced it")

    /// Returns the timeline of a server that accepts writes, and 0 of a standby.
    static let query = """
        CASE WHEN pg_is_in_recovery() THEN 0 ELSE \
        ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END
        """
}

/// Looks for a later timeline at all hosts of a server, so that no connection uses a former primary for long.
final class TimelineWatch: Sendable {
    private let closing = DispatchSemaphore(value: 0)
    private let hosts: Int

    init(_ server: PostgresServer) throws(DatabaseError) {
        hosts = max(1, try server.hostCount)
        var server = server
        server.connectTimeout = server.timelineInterval
        for host in 0..<hosts {
            let closing = closing
            let server = server
            Worker.thread("timeline").post { Self.run(server, host, until: closing) }
        }
    }

    func close() {
        for _ in 0..<hosts { closing.signal() }
    }

    private static func run(_ server: PostgresServer, _ host: Int, until closing: DispatchSemaphore) {
        let interval = server.timelineInterval
        var link: PostgresLink?
        while closing.wait(timeout: .now() + .nanoseconds(Int(interval.nanoseconds))) == .timedOut {
            let current = link ?? (try? PostgresLink(to: server, beginningWith: host))
            let result = try? current?.run(atMost: interval) { PQsendQuery($0, "SELECT " + Timelines.query) }
            link = result?.state == nil ? current : nil
            if let result, result.rowCount == 1 { _ = server.timelines.note(result.int64(0, 0)) }
        }
    }
}
