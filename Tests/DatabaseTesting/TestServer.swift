import Basics
import CPQ
import Database
import Foundation

/// Databases on the server of `DATABASE_URL`, each a copy of one that has all tables. After its test a database is emptied and used
/// again, because a copy takes half a second.
enum TestServer {
    /// `@unchecked Sendable`: reached under the lock only.
    private struct State: @unchecked Sendable {  // under the lock
        var connection: OpaquePointer?
        /// The names of the databases by the paths that they have in tests.
        var names: [String: String] = [:]
        /// The names of databases whose tests have ended.
        var unused: [String] = []
        /// The names of what the template has.
        var objects = ""
        var count = 0
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let state = Lock(State())
    private static let template = "gateway_template"

    static func open(_ path: String, _ migrations: [Migration], _ options: Database.Options) throws -> Database {
        let name = try state.withLock { try prepare(path, &$0) }
        let complete = try complete(migrations)
        let known = try known()
        // It gets tables that other tests do not expect.
        if complete.contains(where: { $0.postgres != nil && !known.contains($0.name) }) {
            state.withLock { $0.names[path] = nil }
        }
        return try Database(
            server: server(name), baseline: "", migrations: complete, options: options)
    }

    /// Returns the name of the database for a path, and takes back those of paths that do not exist any more.
    private static func prepare(_ path: String, _ state: inout State) throws -> String {
        if state.connection == nil { try createTemplate(&state) }
        if let name = state.names[path] { return name }
        for (other, name) in state.names {
            let folder = (other as NSString).deletingLastPathComponent
            guard !FileManager.default.fileExists(atPath: folder) else { continue }
            state.unused.append(name)
            state.names[other] = nil
        }
        while let name = state.unused.popLast() {
            // A test may have changed tables.
            guard try empty(name, of: state.objects) else { continue }
            state.names[path] = name
            return name
        }
        state.count += 1
        let name = "gateway_test_\(state.count)"
        try run("CREATE DATABASE \(name) TEMPLATE \(template)", &state)
        state.names[path] = name
        return name
    }

    /// Removes all rows of a database but those of its migrations, without the triggers that refuse that.
    ///
    /// - Parameter objects: the names of what it has to have.
    /// - Returns: whether it has them.
    private static func empty(_ name: String, of objects: String) throws -> Bool {
        let connection = PQconnectdb(DatabaseEngine.url + " dbname=\(name)")
        defer { PQfinish(connection) }
        guard Self.objects(on: connection) == objects else { return false }
        let statements = """
            SET search_path = data_gateway;
            SET session_replication_role = replica;
            DO $$
            DECLARE name text;
            BEGIN
                FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'data_gateway'::regnamespace
                    AND relkind = 'r' AND relname <> 'migrations'
                LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
                PERFORM setval(oid, 1, false) FROM pg_class
                    WHERE relnamespace = 'data_gateway'::regnamespace AND relkind = 'S';
            END $$
            """
        try run(statements, on: connection)
        return true
    }

    /// Returns the names of tables, indexes and triggers.
    private static func objects(on connection: OpaquePointer?) -> String {
        let result = PQexec(
            connection,
            """
            SELECT string_agg(name, ' ' ORDER BY name) FROM (
                SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'data_gateway'::regnamespace
                UNION ALL SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal) AS objects
            """)
        defer { PQclear(result) }
        return PQntuples(result) == 1 ? String(cString: PQgetvalue(result, 0, 0)) : ""
    }

    private static func createTemplate(_ state: inout State) throws {
        state.connection = PQconnectdb(DatabaseEngine.url)
        try run("DROP DATABASE IF EXISTS \(template) WITH (FORCE)", &state)
        try run("CREATE DATABASE \(template)", &state)
        let baseline = try baseline()
        try Database(server: server(template), baseline: baseline, migrations: complete([])).close()
        let connection = PQconnectdb(DatabaseEngine.url + " dbname=\(template)")
        defer { PQfinish(connection) }
        state.objects = objects(on: connection)
    }

    private static func run(_ sql: String, _ state: inout State) throws {
        try run(sql, on: state.connection)
    }

    private static func run(_ sql: String, on connection: OpaquePointer?) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else {
            throw Failure(description: String(cString: PQerrorMessage(connection)))
        }
    }

    private static func server(_ name: String) -> PostgresServer {
        var server = PostgresServer(url: DatabaseEngine.url + " dbname=\(name)")
        server.readers = 4
        server.timelineInterval = .seconds(600)
        return server
    }

    private static func baseline() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "Sources/GatewayServer/Serve/Schema/postgres.sql")
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Returns the names of the migrations that the tables of the template have.
    private static func known() throws -> Set<String> {
        Set(try baseline().matches(of: /(?m)^    \('([^']+)', \d+\)/).map { String($0.output.1) })
    }

    /// Returns the migrations with those that the tables of the template have, and with statements for those that they lack.
    private static func complete(_ migrations: [Migration]) throws -> [Migration] {
        let known = try known()
        let own = Set(migrations.map(\.name))
        let others = known.subtracting(own).map { Migration(name: $0, sql: "").dormant }
        return others
            + migrations.map { migration in
                guard !known.contains(migration.name) else { return migration }
                let sql = DatabaseEngine.translated(migration.sql)
                let translated = Migration(name: migration.name, sql: migration.sql, postgres: sql)
                return migration.isDormant ? translated.dormant : translated
            }
    }
}
