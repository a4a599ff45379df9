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
    /// The program's version.
    package let version: String
    /// Whether it shares the schema with other programs that do so.
    package let isReplica: Bool

    package init(id: String, directory: String, description: String, version: String = "", isReplica: Bool = false) {
        self.id = id
        self.directory = directory
        self.description = description
        self.version = version
        self.isReplica = isReplica
    }

    /// The name of its row: programs with the same name cannot use the schema at the same time.
    fileprivate var row: String { isReplica ? LeaseRecords.alone + "/" + id : LeaseRecords.alone }
}

/// Programs that have shared a schema without a pause: a new id begins when a program comes to share it and no other one does.
package struct LeaseGroup: Sendable, Equatable {
    /// A random id; empty = the program does not share the schema.
    package let id: String
    /// The id of the group before; empty = none is known.
    package let former: String
}

/// A program that has the right to a schema.
package struct LeaseUser: Sendable, Equatable {
    /// The id of ``LeaseHolder``.
    package let id: String
    package let description: String
    package let version: String
    package let isReplica: Bool
    /// The time since its latest renewal.
    package let age: Duration
    /// The names of the leases that it has, in their order.
    package let leases: [String]
    /// The names of the migrations that it has.
    let migrations: Set<String>

    /// Whether it may use a schema that has `migration`.
    func admits(_ migration: Migration) -> Bool {
        switch migration.compatibility {
        case .own: migrations.contains(migration.name)
        case .expanding: true
        case .contracting(let step): migrations.contains(step)
        }
    }
}

/// The rows of leases, which name their holders and end by the server's clock unless they are renewed. The row `gateway` is the right of
/// one program to a schema, and each row `gateway/ID` that of one of several programs which share it: each write looks for its program's
/// row in its transaction. The others are those of ``ServerLeases``.
enum LeaseRecords {
    /// The time after a renewal in which no other program gets the right. It is longer than all waits of a transaction.
    static let duration = Duration.seconds(30)
    /// The time after which the row of a program that shares the schema is removed if it is not renewed.
    private static let retention = Duration.seconds(30 * 86_400)
    /// The name of the row of a program that does not share the schema, and the begin of the names of the others.
    fileprivate static let alone = "gateway"

    /// The rows of programs, as a condition.
    private static let ofPrograms = "(name = '\(alone)' OR name LIKE '\(alone)/%')"

    /// The row of `holder`, as a condition.
    static func condition(_ holder: LeaseHolder) -> String {
        "name = '\(holder.row)' AND holder = '\(holder.id)'"
    }

    static func isHeld(by holder: LeaseHolder) -> String {
        "EXISTS (SELECT 1 FROM leases WHERE \(condition(holder)))"
    }

    /// The server's time in microseconds.
    static let now = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"

    static let end = "\(now) + \(duration.wholeMilliseconds * 1000)"

    /// Returns the programs that have the right, in the order of their descriptions.
    static func users(in connection: ReadConnection) throws -> [LeaseUser] {
        guard try exist(in: connection) else { return [] }
        let work = try work(in: connection)
        return try connection.query(
            """
            SELECT name, holder, description, version, migrations, \(now) - expires_at AS age
            FROM leases WHERE \(ofPrograms) AND expires_at > \(now) ORDER BY description, holder
            """
        ) { row in
            LeaseUser(
                id: row.text("holder"), description: row.text("description"), version: row.text("version"),
                isReplica: row.text("name") != alone, age: duration + .microseconds(row.int64("age")),
                leases: work[row.text("holder")] ?? [],
                migrations: Set(row.text("migrations").split(separator: "\n").map(String.init)))
        }
    }

    /// Returns the names of the leases of work by the ids of their holders.
    private static func work(in connection: ReadConnection) throws -> [String: [String]] {
        let rows = try connection.query(
            "SELECT name, holder FROM leases WHERE NOT \(ofPrograms) AND expires_at > \(now) ORDER BY name"
        ) { ($0.text("holder"), $0.text("name")) }
        return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
    }

    private static func exist(in connection: ReadConnection) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM pg_class WHERE oid = to_regclass('leases')")
    }

    /// Takes the right in the writer's transaction.
    ///
    /// - Parameter migrations: those that the program has.
    /// - Throws: ``DatabaseError/unsuitable(_:)`` if another program has it and does not share it.
    static func take(_ holder: LeaseHolder, _ migrations: [Migration], in connection: Connection) throws {
        try createTable(in: connection)
        try refuse(holder, besideOthersIn: connection)
        let group = try group(of: holder, in: connection)
        if holder.isReplica {
            try connection.execute(
                """
                DELETE FROM leases WHERE \(ofPrograms) AND (name = '\(alone)' OR (directory = $1 AND directory <> '')
                    OR expires_at < \(now) - \(retention.wholeMilliseconds * 1000))
                """, holder.directory)
        } else {
            try connection.execute("DELETE FROM leases WHERE \(ofPrograms)")
        }
        try connection.execute(
            """
            INSERT INTO leases (
                name, holder, directory, description, version, migrations, group_id, former_group_id, expires_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, \(end))
            """, holder.row, holder.id, holder.directory, holder.description, holder.version,
            migrations.map(\.name).joined(separator: "\n"), group.id, group.former)
        // An earlier program may have ended without notice: its work need not wait.
        try connection.execute(
            """
            UPDATE leases SET expires_at = 0
            WHERE NOT \(ofPrograms) AND holder NOT IN (SELECT holder FROM leases WHERE \(ofPrograms))
            """)
    }

    /// Returns the group that `holder` joins or begins.
    private static func group(of holder: LeaseHolder, in connection: Connection) throws -> LeaseGroup {
        let current = try connection.first(
            "SELECT group_id FROM leases WHERE group_id <> '' AND expires_at > \(now) AND (directory <> $1 OR directory = '')",
            holder.directory
        ) { $0.text("group_id") }
        let former = try connection.first(
            "SELECT group_id FROM leases WHERE group_id <> '' ORDER BY expires_at DESC LIMIT 1"
        ) { $0.text("group_id") }
        return LeaseGroup(id: holder.isReplica ? current ?? holder.id : "", former: former ?? "")
    }

    /// Returns the group of `holder`, which has the right.
    static func group(of holder: LeaseHolder, in connection: ReadConnection) throws -> LeaseGroup? {
        try connection.first("SELECT group_id, former_group_id FROM leases WHERE \(condition(holder))") {
            LeaseGroup(id: $0.text("group_id"), former: $0.text("former_group_id"))
        }
    }

    /// Creates the table. `description` says for people what the holder is, or does.
    static let table = """
        CREATE TABLE IF NOT EXISTS leases (
            name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" NOT NULL, directory TEXT COLLATE "C" NOT NULL DEFAULT '',
            description TEXT COLLATE "C" NOT NULL DEFAULT '', generation BIGINT NOT NULL DEFAULT 1,
            version TEXT COLLATE "C" NOT NULL DEFAULT '', migrations TEXT COLLATE "C" NOT NULL DEFAULT '',
            group_id TEXT COLLATE "C" NOT NULL DEFAULT '', former_group_id TEXT COLLATE "C" NOT NULL DEFAULT '',
            expires_at BIGINT NOT NULL
        )
        """

    private static func createTable(in connection: Connection) throws {
        guard try exist(in: connection) else { return try connection.session.executeScript(table) }
        let isCurrent = try connection.hasRow(
            "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('leases') AND attname = 'group_id'")
        guard !isCurrent else { return }
        let texts = ["version", "migrations", "group_id", "former_group_id"].map {
            "ADD COLUMN IF NOT EXISTS \($0) TEXT COLLATE \"C\" NOT NULL DEFAULT ''"
        }
        try connection.session.executeScript(
            """
            ALTER TABLE leases ADD COLUMN IF NOT EXISTS generation BIGINT NOT NULL DEFAULT 1, \(texts.joined(separator: ", ")),
                ALTER COLUMN directory SET DEFAULT '', ALTER COLUMN description SET DEFAULT ''
            """)
    }

    /// - Throws: ``DatabaseError/unsuitable(_:)`` if `holder` may not use the schema beside the programs that do.
    private static func refuse(_ holder: LeaseHolder, besideOthersIn connection: Connection) throws {
        let others = try connection.query(
            """
            SELECT name, description, (expires_at - \(now)) / 1000000 + 1 AS seconds FROM leases
            WHERE \(ofPrograms) AND expires_at > \(now) AND (directory <> $1 OR directory = '')
                AND ($2 = 0 OR name = '\(alone)') ORDER BY description
            """, holder.directory, holder.isReplica ? 1 : 0
        ) { ($0.text("name"), $0.text("description"), $0.int64("seconds")) }
        guard let (name, user, _) = others.first, let seconds = others.map(\.2).max() else { return }
        let users = others.count == 1 ? user : "\(user), and \(others.count - 1) others"
        let advice =
            switch (name == alone, holder.isReplica) {
            case (true, true): "it does not share the database (replicas.enabled): stop it"
            case (false, _): "replicas share the database: set replicas.enabled, or stop them"
            default: "stop that gateway"
            }
        throw DatabaseError.unsuitable(
            "the database is in use by another gateway (\(users)): \(advice); if it has ended without notice, "
                + "try again in \(seconds) seconds")
    }
}

/// The state of the server as of the latest renewal of the right.
package struct ServerContact: Sendable, Equatable {
    /// Whether the server answered.
    package var isAnswering = true
    /// By how much the server's clock is ahead of this machine's, at least; zero if the answer does not show a difference.
    package var clockDifference = Duration.zero

    /// - Parameters:
    ///   - time: of the server, read between `begin` and `end` of this machine's clock.
    fileprivate init(_ time: UnixTime, between begin: UnixTime, and end: UnixTime) {
        clockDifference = time.clockDifference(between: begin, and: end)
    }

    fileprivate init(isAnswering: Bool) { self.isAnswering = isAnswering }
}

/// The renewal of the right, on a thread and a connection of its own, which does not wait for the writers' lock.
final class LeaseRenewal: Sendable {
    private final class Latest: Sendable {
        let contact = Lock(ServerContact(isAnswering: true))
    }

    private let latest = Latest()
    private let closing = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    var contact: ServerContact { latest.contact.withLock { $0 } }

    /// - Parameter onLoss: called once if another program has taken the right.
    init(
        _ holder: LeaseHolder, of server: PostgresServer, every interval: Duration, clock: any WallClock,
        onLoss: @escaping @Sendable () -> Void
    ) {
        let (closing, ended, latest) = (closing, ended, latest)
        Worker.thread("lease").post {
            var session = LeaseSession(server)
            repeat {
                let contact = Self.renew(holder, clock, by: &session)
                guard let contact else {
                    onLoss()
                    break
                }
                latest.contact.withLock { $0 = contact }
            } while closing.wait(timeout: .now() + .nanoseconds(Int(interval.nanoseconds))) == .timedOut
            // The next gateway need not wait.
            _ = try? session.run("DELETE FROM leases WHERE \(LeaseRecords.condition(holder))")
            ended.signal()
        }
    }

    /// - Returns: `nil` if another program has the right. A server that does not answer gives it to nobody.
    private static func renew(
        _ holder: LeaseHolder, _ clock: any WallClock, by session: inout LeaseSession
    ) -> ServerContact? {
        let begin = clock.now()
        do {
            let result = try session.run(
                """
                UPDATE leases SET expires_at = \(LeaseRecords.end) WHERE \(LeaseRecords.condition(holder))
                RETURNING \(LeaseRecords.now)
                """)
            guard result.changedRows > 0, let time = Int64(result.text(0, 0)) else { return nil }
            return ServerContact(UnixTime(microseconds: time), between: begin, and: clock.now())
        } catch {
            return ServerContact(isAnswering: false)
        }
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
