import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// Servers that do not suit.
@Suite(.timeLimited, .onPostgres) struct ServerRefusalTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func poolerIsRefused() throws {
        let proxy = try ServerProxy(in: scratch.path)
        proxy.hideBackends()
        #expect(
            throws: DatabaseError.unsuitable(
                "a connection pooler is in front of the database: connect to the server itself, or set database.pooler")
        ) {
            try scratch.database(on: scratch.server(through: proxy))
        }
    }

    @Test func poolerThatKeepsSessionsIsAccepted() throws {
        let proxy = try ServerProxy(in: scratch.path)
        proxy.hideBackends()
        var server = scratch.server(through: proxy)
        server.pooler = .session
        try scratch.database(on: server).close()
    }

    @Test func databaseOfAnotherEncodingIsRefused() throws {
        let other = try scratch.connection()
        let name = scratch.server.schema.lowercased().replacing("-", with: "_")
        try other.session.executeScript(
            "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
        defer {
            #expect(throws: Never.self) { try other.session.executeScript("DROP DATABASE \(name) WITH (FORCE)") }
        }
        #expect(
            throws: DatabaseError.unsuitable(
                "the database has the encoding LATIN1: create it with ENCODING 'UTF8'")
        ) {
            try PostgresSession(PostgresServer(url: DatabaseEngine.url + " dbname=\(name)"), .reader)
        }
    }

    @Test func textsInAnotherOrderAreRefused() throws {
        #expect(
            throws: DatabaseError.unsuitable(
                "the column things.name has another order than bytes: create it with COLLATE \"C\"")
        ) {
            try Database(
                server: scratch.server, baseline: "CREATE TABLE things (id BIGINT, name TEXT)", migrations: [])
        }
    }

    @Test func commitsWaitForTheDiskWhateverTheDefaultOfTheServer() throws {
        for (setting, expected) in [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")] {
            var server = PostgresServer(
                url: DatabaseEngine.url + " options='-c synchronous_commit=\(setting)'", schema: scratch.server.schema)
            server.readers = 1
            let connection = Connection(try PostgresSession(server, .writer))
            let value = try connection.first("SELECT current_setting('synchronous_commit') AS value") {
                $0.text("value")
            }
            #expect(value == expected)
        }
    }
}
