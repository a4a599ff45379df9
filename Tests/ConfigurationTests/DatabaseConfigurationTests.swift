import Commands
import Database
import Foundation
import TestSupport
import Testing

@testable import Configuration
@testable import Serve
@testable import Settings

/// The place of the database.
@Suite(.timeLimited) struct DatabaseConfigurationTests {
    private func read(_ database: String, _ others: String = "") throws -> (DatabaseConfiguration, [String]) {
        let folder = try TestFolder()
        let path = folder.path + "/gateway.json5"
        try "{database: {\(database)}\(others)}".write(toFile: path, atomically: true, encoding: .utf8)
        let reader = try SettingsReader(path: path)
        let configuration = Configuration(reader, apps: Program.apps)
        return (configuration.database, reader.faults.map(\.description))
    }

    private static let url = "url: 'postgresql://gateway@a.example,b.example/objects'"

    @Test func fileIsTheDefault() throws {
        let (database, faults) = try read("reserve_bytes: 0")
        #expect(database.server == nil && faults.isEmpty)
    }

    @Test func settingsOfAServerAreRead() throws {
        let (database, faults) = try read(
            """
            \(Self.url), schema: 'robots_2', password_file: '/p', root_key_file: '/r', authorities: '/a', certificate: '/c', key: '/k',
            pooler: 'session', read_connections: 5, lock_timeout: 8, write_timeout: 7, commit_timeout: 6,
            start_timeout: 9
            """)
        let server = try #require(database.server)
        #expect(faults.isEmpty)
        #expect(server.place == "postgresql://a.example,b.example/objects, schema robots_2")
        #expect(database.rootKeyFile == "/r")
        #expect(server.passwordFile == "/p" && server.pooler == .session && server.readers == 5)
        #expect([server.tls.authorities, server.tls.certificate, server.tls.key] == ["/a", "/c", "/k"])
        #expect(server.lockTimeout == .seconds(8) && server.writeTimeout == .seconds(7))
        #expect(server.commitTimeout == .seconds(6) && database.startTimeout == .seconds(9))
    }

    @Test(arguments: [
        (
            "root_key_file: '/r'",
            "database.root_key_file is only for a database on a server: remove it, or set database.url"
        ),
        ("schema: 'a'", "database.schema is only for a database on a server: remove it, or set database.url"),
        ("\(url), schema: 'a-b'", "database.schema must be 1 to 63 of a-z, 0-9 and _, and begin with a letter"),
        ("\(url), schema: '1a'", "database.schema must be 1 to 63 of a-z, 0-9 and _, and begin with a letter"),
        (
            "\(url), certificate: '/c'",
            "database.key is required: database.certificate and database.key must both be set"
        ),
        (
            "\(url), lock_timeout: 5, write_timeout: 5",
            "database.lock_timeout must be longer than database.write_timeout, for which another writer may have the lock"
        ),
        (
            "url: 'postgresql://u:p@h/d'",
            "database.url must not have a password: write it into a file, and set database.password_file"
        ),
        ("url: 'mysql://h/d'", "database.url must be postgresql://USER@HOST[:PORT]/DATABASE"),
    ]) func faultsNameTheKeyAndTheRule(_ settings: String, _ fault: String) throws {
        #expect(try read(settings).1 == [fault])
    }
}
