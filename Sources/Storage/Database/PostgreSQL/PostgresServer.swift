import Basics
import CPQ

/// The place of a database on a PostgreSQL server, and the limits of the gateway's connections to it.
package struct PostgresServer: Sendable {
    /// The largest number of writes in one transaction. Beyond 64 savepoints reads become slower, and a large transaction makes
    /// the writers of other programs wait.
    static let batchedWrites = 16

    /// The connection URI, such as `postgresql://gateway@db.example/gateway`, or a string of keywords and values of libpq.
    package let url: String
    /// The schema that has the tables. It is created if it does not exist.
    package let schema: String
    /// The file whose first line is the password, read at each connect; `nil` = the URL has it, or the server asks for none.
    package var passwordFile: String?
    /// The files for TLS, which libpq reads at each connect.
    package var tls = TLS()
    /// The connection pooler in front of the server.
    package var pooler = Pooler.none
    /// The number of connections that read, and so of reads at once.
    package var readers = 16
    /// The longest wait of a read for a thread, and then for a connection.
    package var readerWait = Duration.seconds(5)
    /// The longest attempt to connect.
    package var connectTimeout = Duration.seconds(5)
    /// The time for which the writer tries to connect again before it answers its batch.
    package var reconnectTimeout = Duration.seconds(10)
    /// The longest wait for a lock, such as that of the writer.
    package var lockTimeout = Duration.seconds(10)
    /// The longest wait of a migration for a table, during which the statements of other programs wait behind it.
    var tableLockTimeout = Duration.seconds(2)
    /// The longest statement of a write.
    package var writeTimeout = Duration.seconds(5)
    /// The longest statement of a read.
    package var readTimeout = Duration.seconds(30)
    /// The longest wait for the answer of a COMMIT, which may wait for a standby.
    package var commitTimeout = Duration.seconds(10)
    /// The longest pause of a transaction between two statements, after which the server ends it.
    package var idleTimeout = Duration.seconds(5)
    /// The time in which the network has to deliver; added to the server's own limits before a connection is given up.
    package var networkTimeout = Duration.seconds(5)

    /// The PEM files of connections with TLS.
    package struct TLS: Sendable, Equatable {
        /// The authorities for the server's certificate; `nil` = those that the system trusts.
        package var authorities: String?
        /// The certificate of the program, and its private key; `nil` = none.
        package var certificate: String?
        package var key: String?

        package init() {}
    }

    /// A connection pooler in front of the server.
    package enum Pooler: String, Sendable, CaseIterable {
        /// The program connects to the server itself.
        case none
        /// Each connection has a session of the server until it is closed.
        case session
    }

    /// The schema if none is named.
    package static let defaultSchema = "data_gateway"

    package init(url: String, schema: String = Self.defaultSchema) {
        self.url = url
        self.schema = schema
    }

    /// The program that alone uses the schema; `nil` = several programs use it.
    package var holder: LeaseHolder?
    /// The time between two renewals of its right.
    var leaseInterval = Duration.seconds(5)

    /// The longest time in which writes are added to a transaction.
    package var batchTime = Duration.milliseconds(50)
    /// The time between two looks for a later timeline, and the longest wait for an answer to one.
    package var timelineInterval = Duration.seconds(2)
    /// The timelines that connections to the server have seen.
    let timelines = Timelines()
    /// The messages of sessions for whose answers the program has waited.
    let roundTrips = RoundTrips()
    /// The counters of its sessions.
    let activity = ServerActivity()

    /// The first half of the keys of advisory locks. With 0 as the second half it is the writer's lock.
    var lockKey: Int32 {
        // FNV-1a: all programs with this schema have to use the same key.
        var hash: UInt32 = 2_166_136_261
        for byte in "data-gateway \(schema)".utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int32(bitPattern: hash)
    }

    var quotedSchema: String { "\"" + schema.replacing(bytes: ["\"": "\"\""]) + "\"" }

    /// The place for people: hosts, database and schema, without the user and options of the URL.
    package var place: String {
        let options = (try? options()) ?? [:]
        let host = options["host"] ?? options["hostaddr"] ?? "localhost"
        let name = options["dbname"] ?? options["user"] ?? ""
        return "postgresql://\(host)/\(name), schema \(schema)"
    }

    /// Returns what is wrong with a URL of the configuration, as the words after its name; `nil` = nothing.
    package static func problem(of url: String) -> String? {
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://"),
            let options = try? PostgresServer(url: url).options()
        else { return "must be postgresql://USER@HOST[:PORT]/DATABASE" }
        if options["password"] != nil || options["sslpassword"] != nil {
            return "must not have a password: write it into a file, and set database.password_file"
        }
        return nil
    }

    /// The schema as a literal of SQL.
    var schemaLiteral: String { "'" + schema.replacing(bytes: ["'": "''"]) + "'" }

    /// Returns the parameters of a connection to each host of the URL.
    ///
    /// libpq would try one after the other, and would wait for one that does not answer as long as for all.
    func hosts() throws(DatabaseError) -> [[String: String]] {
        let parameters = try parameters()
        let lists = ["host", "hostaddr", "port"].map { name in
            (name, (parameters[name] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        }
        return (0..<(lists.map(\.1.count).max() ?? 1)).map { number in
            var host = parameters
            // One port may be that of all hosts.
            for (name, values) in lists where values.count > 1 { host[name] = values[min(number, values.count - 1)] }
            return host
        }
    }

    /// Returns the parameters of a connection.
    ///
    /// - Throws: ``DatabaseError/unsuitable(_:)``, without the URL, which may have a password.
    func parameters() throws(DatabaseError) -> [String: String] {
        var parameters = try options()
        parameters["client_encoding"] = "UTF8"
        // A standby would answer reads with older rows.
        parameters["target_session_attrs"] = "read-write"
        parameters["tcp_user_timeout"] = "\(networkTimeout.wholeMilliseconds)"
        parameters["keepalives_idle"] = parameters["keepalives_idle"] ?? "5"
        parameters["keepalives_interval"] = parameters["keepalives_interval"] ?? "2"
        parameters["keepalives_count"] = parameters["keepalives_count"] ?? "3"
        parameters["application_name"] = parameters["application_name"] ?? "data-gateway"
        if let passwordFile { parameters["password"] = try Self.password(in: passwordFile) }
        setTLS(in: &parameters)
        return parameters
    }

    private func setTLS(in parameters: inout [String: String]) {
        parameters["sslrootcert"] = tls.authorities ?? parameters["sslrootcert"]
        parameters["sslcert"] = tls.certificate ?? parameters["sslcert"]
        parameters["sslkey"] = tls.key ?? parameters["sslkey"]
        // The default of libpq accepts any certificate, and none.
        if parameters["sslmode"] == nil, tls.authorities != nil || !Self.isLocal(parameters) {
            parameters["sslmode"] = "verify-full"
        }
        if parameters["sslmode"]?.hasPrefix("verify-") == true, parameters["sslrootcert"] == nil {
            parameters["sslrootcert"] = Self.systemAuthorities
        }
    }

    /// The `sslmode` of connections to other machines if it does not verify the server's name; `nil` = it does.
    var weakMode: String? {
        guard let parameters = try? parameters(), !Self.isLocal(parameters), parameters["sslmode"] != "verify-full"
        else { return nil }
        return parameters["sslmode"]
    }

    /// The authorities that the system trusts: libpq 15 does not look for them.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Whether all hosts of a URL are on this machine.
    private static func isLocal(_ parameters: [String: String]) -> Bool {
        guard let hosts = parameters["hostaddr"] ?? parameters["host"] else { return true }
        return hosts.split(separator: ",").allSatisfy { host in
            host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "127.0.0.1", "::1"].contains(host)
        }
    }

    /// Returns the first line of a file.
    ///
    /// - Throws: ``DatabaseError/unavailable(_:)``, because the file may be replaced at this moment.
    private static func password(in file: String) throws(DatabaseError) -> String {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: file)
        } catch {
            throw .unavailable("the password cannot be read from \(error)")
        }
        let line = String(
            decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        guard !line.isEmpty else {
            throw .unavailable("the first line of \(file) has to be the password, and is empty")
        }
        return line
    }

    /// Returns what the URL says.
    private func options() throws(DatabaseError) -> [String: String] {
        var parameters: [String: String] = [:]
        guard let options = PQconninfoParse(url, nil) else {
            throw .unsuitable(
                "the database's URL is malformed: write postgresql://USER@HOST:PORT/DATABASE?OPTION=VALUE")
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parameters
    }
}

extension Duration {
    var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
