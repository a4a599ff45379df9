import Basics
import Configuration
package import Database
import Settings

/// The place of the database: the section `database`, without the reserve of a file.
package struct DatabaseConfiguration: Sendable {
    /// The server; `nil` = the database is a file in the data directory.
    package private(set) var server: PostgresServer?
    /// The file with the root key; `nil` = `keys/root` in the data directory.
    package private(set) var rootKeyFile: String?
    /// The longest time for which a gateway that starts waits for a server that is not available.
    package private(set) var startTimeout = Duration.seconds(60)

    /// The names of the keys that only a server has.
    private static let serverKeys = [
        "schema", "password_file", "root_key_file", "authorities", "certificate", "key", "pooler", "read_connections",
        "start_timeout", "connect_timeout", "reconnect_timeout", "lock_timeout", "write_timeout", "read_timeout",
        "commit_timeout",
    ]
    private static let longestSchema = 63

    init(_ settings: SettingsReader) {
        let section = settings.section("database")
        let url = section.text(
            "url", default: "", unit: "URL", bounds: "`postgresql://USER@HOST[:PORT][,HOST…]/DATABASE[?OPTION=VALUE]`")
        if url.isEmpty {
            // Before the values are judged: each key has one fault.
            for name in Self.serverKeys where section.contains(name) {
                section.reject(name, "is only for a database on a server: remove it, or set database.url")
            }
        } else if let problem = PostgresServer.problem(of: url) {
            section.reject("url", problem)
        }
        let schema = section.text(
            "schema", default: PostgresServer.defaultSchema, unit: "name", bounds: "1–63 of `a-z 0-9 _`")
        if !Self.isName(schema) {
            section.reject("schema", "must be 1 to 63 of a-z, 0-9 and _, and begin with a letter")
        }
        var server = PostgresServer(url: url, schema: schema)
        server.passwordFile = Self.file("password_file", "path", section)
        server.tls = Self.tls(section)
        rootKeyFile = Self.file("root_key_file", "path", section)
        server.pooler = section.choice("pooler", default: PostgresServer.Pooler.none)
        server.readers = section.integer(
            "read_connections", default: server.readers, in: 2...200, unit: "connections")
        startTimeout = section.duration("start_timeout", default: startTimeout, in: 0...600)
        Self.readLimits(&server, section)
        self.server = url.isEmpty ? nil : server
    }

    private static func tls(_ section: SettingsReader) -> PostgresServer.TLS {
        var tls = PostgresServer.TLS()
        tls.authorities = file("authorities", "PEM file", section)
        tls.certificate = file("certificate", "PEM file", section)
        tls.key = file("key", "PEM file", section)
        if (tls.certificate == nil) != (tls.key == nil) {
            section.reject(
                tls.certificate == nil ? "certificate" : "key",
                "is required: database.certificate and database.key must both be set")
        }
        return tls
    }

    private static func readLimits(_ server: inout PostgresServer, _ section: SettingsReader) {
        server.connectTimeout = section.duration("connect_timeout", default: server.connectTimeout, in: 1...60)
        server.reconnectTimeout = section.duration("reconnect_timeout", default: server.reconnectTimeout, in: 0...60)
        // Shorter than a lease.
        server.lockTimeout = section.duration("lock_timeout", default: server.lockTimeout, in: 2...20)
        server.writeTimeout = section.duration("write_timeout", default: server.writeTimeout, in: 1...19)
        server.readTimeout = section.duration("read_timeout", default: server.readTimeout, in: 1...600)
        server.commitTimeout = section.duration("commit_timeout", default: server.commitTimeout, in: 1...300)
        guard server.lockTimeout > server.writeTimeout else {
            section.reject(
                "lock_timeout", "must be longer than database.write_timeout, for which another writer may have the lock"
            )
            return
        }
    }

    private static func file(_ name: String, _ unit: String, _ section: SettingsReader) -> String? {
        let path = section.text(name, default: "", unit: unit)
        return path.isEmpty ? nil : path
    }

    private static func isName(_ name: String) -> Bool {
        (1...longestSchema).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "_") }
            && name.utf8.first.map { $0 > UInt8(ascii: "9") && $0 != UInt8(ascii: "_") } == true
    }
}
