import Basics
import CPQ
import Dispatch
import Synchronization

/// The latest timeline of a server and its standbys. A standby that becomes the primary begins a new one, so a server with an earlier
/// timeline is a former primary, which must neither be read nor written.
final class Timelines: Sendable {
    private let latest = Atomic<Int64>(0)
    private let latestHost = Atomic<Int>(0)

    /// The number of the host in the URL that had the latest timeline.
    var host: Int { latestHost.load(ordering: .sequentiallyConsistent) }

    /// Notes the timeline of a server that accepts writes.
    ///
    /// - Parameter host: its number in the URL, if that is known.
    /// - Returns: whether there is no later one.
    func note(_ timeline: Int64, host: Int? = nil) -> Bool {
        let isLatest = latest.max(timeline, ordering: .sequentiallyConsistent).newValue == timeline
        if isLatest, let host { latestHost.store(host, ordering: .sequentiallyConsistent) }
        return isLatest
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
        hosts = try server.hosts().count
        for number in 0..<hosts {
            let look = Look(server: server, number: number)
            let closing = closing
            Worker.thread("timeline").post { look.run(until: closing) }
        }
    }

    func close() {
        for _ in 0..<hosts { closing.signal() }
    }

    /// The look at one host.
    private struct Look: Sendable {
        let server: PostgresServer
        let number: Int

        func run(until closing: DispatchSemaphore) {
            let interval = server.timelineInterval
            var link: PostgresLink?
            while closing.wait(timeout: .now() + .nanoseconds(Int(interval.nanoseconds))) == .timedOut {
                let current = link ?? (try? connect())
                let result = try? current?.run(atMost: interval) { PQsendQuery($0, "SELECT " + Timelines.query) }
                link = result?.state == nil ? current : nil
                guard let result, result.state == nil, result.rowCount == 1 else { continue }
                let timeline = result.int64(0, 0)
                if timeline > 0 { _ = server.timelines.note(timeline, host: number) }
            }
        }

        private func connect() throws(DatabaseError) -> PostgresLink {
            var parameters = try server.hosts()[number]
            // A standby answers with 0, and with its timeline as soon as it is the primary.
            parameters["target_session_attrs"] = "any"
            return try PostgresLink(parameters, atMost: server.timelineInterval, server.timelines)
        }
    }
}
