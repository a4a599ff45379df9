import Basics
import CPQ
import Dispatch
import Synchronization

/// The program that uses a database on a server.
package struct LeaseHolder: Sendable, Equatable {
    /// A random id of this start of the program.
    package let id: String
    /// Names what only one process uses at a time, such as a locked data directory: an earlier process with the same name has ended.
    /// Empty = unknown.
    package let directory: String
    /// The program for people, such as `process 17 on host a`.
    package let description: String

    package init(id: String, directory: String, description: String) {
        self.id = id
        self.directory = directory
        self.description = description
    }
}

/// The rows of leases, which name their holders and end by the server's clock unless they are renewed. The row `gateway` is the right of
/// one program to a schema: each write looks for it in its transaction. The others are those of ``ServerLeases``.
enum LeaseRecords {
    /// The time after a renewal in which no other program gets the right. It is longer than all waits of a transaction.
    static let duration = Duration.seconds(30)

    /// The row of `holder`, as a condition.
    static func condition(_ holder: LeaseHolder) -> String {
        "name = 'gateway' AND holder = '\(holder.id)'"
    }

    static func isHeld(by holder: LeaseHolder) -> String {
        "EXISTS (SELECT 1 FROM leases WHERE \(condition(holder)))"
    }

    /// The server's time in microseconds.
    static let now = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"

    static let end = "\(now) + \(duration.wholeMilliseconds * 1000)"

    /// Returns the program that has the right, for people; `nil` = none has it.
    static func user(in connection: ReadConnection) throws -> String? {
        guard try exist(in: connection) else { return nil }
        return try connection.first(
            "SELECT description FROM leases WHERE name = 'gateway' AND expires_at > \(now)"
        ) { $0.text("description") }
    }

    /// Creates the table. `description` says for people what the holder is, or does.
    static let table = """
        CREATE TABLE IF NOT EXISTS leases (
            name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" NOT NULL, directory TEXT COLLATE "C" NOT NULL DEFAULT '',
            description TEXT COLLATE "C" NOT NULL DEFAULT '', generation BIGINT NOT NULL DEFAULT 1, expires_at BIGINT NOT NULL
        )
        """

    private static func exist(in connection: ReadConnection) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM pg_class WHERE oid = to_regclass('leases')")
    }

    private static func hasGenerations(in connection: ReadConnection) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('leases') AND attname = 'generation'")
    }

    /// Takes the right in the writer's transaction.
    ///
    /// - Throws: ``DatabaseError/unsuitable(_:)`` if another program has it.
    static func take(_ holder: LeaseHolder, in connection: Connection) throws {
        if try !exist(in: connection) {
            try connection.session.executeScript(table)
        } else if try !hasGenerations(in: connection) {
            // An earlier version had another table for the rights to background work.
            try connection.session.executeScript(
                """
                ALTER TABLE leases ADD COLUMN generation BIGINT NOT NULL DEFAULT 1,
                    ALTER COLUMN directory SET DEFAULT '', ALTER COLUMN description SET DEFAULT ''
                """)
        }
        let other = try connection.first(
            """
            SELECT description, (expires_at - \(now)) / 1000000 + 1 AS seconds FROM leases
            WHERE name = 'gateway' AND expires_at > \(now) AND (directory <> $1 OR directory = '')
            """, holder.directory
        ) { ($0.text("description"), $0.int64("seconds")) }
        if let (user, seconds) = other {
            throw DatabaseError.unsuitable(
                "the database is in use by another gateway (\(user)): stop that gateway; if it has ended without notice, "
                    + "try again in \(seconds) seconds")
        }
        try connection.execute(
            """
            INSERT INTO leases (name, holder, directory, description, expires_at) VALUES ('gateway', $1, $2, $3, \(end))
            ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, directory = excluded.directory,
                description = excluded.description, expires_at = excluded.expires_at
            """, holder.id, holder.directory, holder.description)
        // An earlier program may have ended without notice: its work need not wait.
        try connection.execute("UPDATE leases SET expires_at = 0 WHERE name <> 'gateway'")
    }
}

/// The renewal of the right, on a thread and a connection of its own, which does not wait for the writers' lock.
final class LeaseRenewal: Sendable {
    private let closing = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter onLoss: called once if another program has taken the right.
    init(
        _ holder: LeaseHolder, of server: PostgresServer, every interval: Duration,
        onLoss: @escaping @Sendable () -> Void
    ) {
        let (closing, ended) = (closing, ended)
        Worker.thread("lease").post {
            var session = LeaseSession(server)
            while closing.wait(timeout: .now() + .nanoseconds(Int(interval.nanoseconds))) == .timedOut {
                guard Self.renew(holder, by: &session) else {
                    onLoss()
                    break
                }
            }
            // The next gateway need not wait.
            _ = try? Self.change("DELETE FROM leases", holder, by: &session)
            ended.signal()
        }
    }

    /// - Returns: `false` if another program has the right. A server that does not answer gives it to nobody.
    private static func renew(_ holder: LeaseHolder, by session: inout LeaseSession) -> Bool {
        do {
            return try change("UPDATE leases SET expires_at = \(LeaseRecords.end)", holder, by: &session) > 0
        } catch {
            return true
        }
    }

    /// Changes the row of `holder`.
    ///
    /// - Parameter statement: without the condition.
    /// - Returns: the number of changed rows.
    private static func change(
        _ statement: String, _ holder: LeaseHolder, by session: inout LeaseSession
    ) throws(DatabaseError) -> Int {
        try session.run("\(statement) WHERE \(LeaseRecords.condition(holder))").changedRows
    }

    /// Gives the right up, without waiting for that.
    func stop() { closing.signal() }

    /// Gives the right up.
    func close() {
        stop()
        _ = ended.wait(timeout: .now() + 10)
        ended.signal()
    }
}
