import Basics

/// The findings of an examination of a server for an operator.
package struct ServerReport: Sendable {
    /// The meaning of a finding for a gateway.
    package enum Severity: String, Sendable {
        /// A gateway does not start.
        case refusal
        case warning
        case fact
    }

    package struct Finding: Sendable, Equatable, CustomStringConvertible {
        package let severity: Severity
        /// A sentence without a full stop.
        package let message: String

        package var description: String { "\(severity.rawValue): \(message)" }
    }

    package private(set) var findings: [Finding] = []

    package var isRefused: Bool { findings.contains { $0.severity == .refusal } }

    mutating func add(_ severity: Severity, _ message: String) {
        findings.append(Finding(severity: severity, message: message))
    }

    mutating func add(_ severity: Severity, if condition: Bool, _ message: @autoclosure () -> String) {
        if condition { add(severity, message()) }
    }
}

extension PostgresServer {
    /// The difference of clocks from which it is a warning.
    private static let clockTolerance = Duration.seconds(2)

    /// Connects to the server and examines what a gateway needs; changes nothing.
    ///
    /// - Parameter migrations: those of this program.
    package func examine(_ migrations: [Migration]) -> ServerReport {
        var report = ServerReport()
        do {
            if pooler == .session { try PostgresSession.requireSessions(of: self) }
            let session = try PostgresSession(self, .reader)
            try session.describe(in: &report)
            let sample = try session.sample(atMost: readTimeout)
            report.add(
                .warning, if: sample.clockDifference.magnitude > Self.clockTolerance,
                "the server's clock differs by \(sample.clockDifference.wholeSeconds) seconds from this machine's: set both by NTP"
            )
            report.add(.fact, "\(sample.connections) of \(sample.connectionLimit) connections are in use")
            try session.examineRights(in: &report)
            try session.examineSchema(migrations, in: &report)
        } catch let error as DatabaseError {
            report.add(.refusal, "\(error)")
        } catch {
            report.add(.refusal, "\(error)")
        }
        return report
    }
}

extension PostgresSession {
    fileprivate func describe(in report: inout ServerReport) throws(DatabaseError) {
        let result = try run(
            """
            SELECT current_setting('server_version'), current_setting('server_encoding'),
                (SELECT datcollate FROM pg_database WHERE datname = current_database()), current_user,
                coalesce((SELECT CASE WHEN ssl THEN version ELSE '' END FROM pg_stat_ssl WHERE pid = pg_backend_pid()), ''),
                current_setting('synchronous_standby_names'), current_setting('synchronous_commit')
            """)
        let encryption = result.text(0, 4)
        report.add(
            .fact,
            "PostgreSQL \(result.text(0, 0)) at \(server.place), as \(result.text(0, 3)), \(encryption.isEmpty ? "without TLS" : encryption)"
        )
        if let mode = server.weakMode {
            report.add(.warning, "the server's certificate is not verified: remove sslmode=\(mode) from database.url")
        }
        report.add(.fact, "encoding \(result.text(0, 1)), collation \(result.text(0, 2)); the tables sort by bytes")
        for warning in try warnings() { report.add(.warning, warning) }
        let standbys = result.text(0, 5)
        report.add(.fact, if: !standbys.isEmpty, "commits wait for synchronous_standby_names = \(standbys)")
    }

    fileprivate func examineRights(in report: inout ServerReport) throws(DatabaseError) {
        let functions = [
            "pg_advisory_xact_lock(integer, integer)", "pg_current_xact_id()", "pg_xact_status(xid8)",
            "pg_logical_emit_message(boolean, text, text)", "pg_current_wal_lsn()", "pg_walfile_name(pg_lsn)",
        ]
        let missing = functions.map { "CASE WHEN has_function_privilege('\($0)', 'EXECUTE') THEN '' ELSE ' \($0)' END" }
        let result = try run(
            """
            SELECT \(missing.joined(separator: " || ")), rolsuper, pg_has_role('pg_read_all_stats', 'USAGE'),
                (SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE') FROM pg_namespace
                    WHERE nspname = \(server.schemaLiteral)),
                has_database_privilege(current_database(), 'CREATE'),
                (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'v') AND NOT pg_has_role(relowner, 'USAGE')
                    AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(server.schemaLiteral)))
            FROM pg_roles WHERE rolname = current_user
            """)
        let denied = result.text(0, 0)
        report.add(.refusal, if: !denied.isEmpty, "the role may not execute\(denied): grant EXECUTE to it")
        report.add(
            .warning, if: result.text(0, 1) == "t", "the role is a superuser: a role that owns its schema is enough")
        report.add(
            .warning, if: result.text(0, 2) != "t",
            "the role does not see the state of standbys and of other roles' transactions: grant pg_read_all_stats to it"
        )
        if result.isNull(0, 3) {
            report.add(
                .refusal, if: result.text(0, 4) != "t",
                "the role may not create the schema \(server.schema): create it with AUTHORIZATION to the role")
        } else {
            report.add(
                .refusal, if: result.text(0, 3) != "t",
                "the role may not use the schema \(server.schema) and create tables in it: make the role its owner")
        }
        report.add(
            .refusal, if: result.int64(0, 5) > 0,
            "\(result.int64(0, 5)) tables of the schema \(server.schema) have another owner: make the role their owner")
    }

    fileprivate func examineSchema(_ migrations: [Migration], in report: inout ServerReport) throws {
        let connection = ReadConnection(self)
        guard let pending = try connection.pendingOnServer(migrations) else {
            report.add(.fact, "the schema \(server.schema) has no tables: a gateway creates them when it starts")
            return
        }
        try requireCollation()
        let state = pending.isEmpty ? "is current" : "gets \(pending.count) migrations at the next start"
        report.add(.fact, "the schema \(server.schema) \(state)")
        try begin()
        let users = try LeaseRecords.users(in: connection)
        try commit()
        for user in users {
            report.add(
                .fact, "a gateway that \(user.isReplica ? "shares" : "uses") the database is \(user.description)")
        }
    }
}
