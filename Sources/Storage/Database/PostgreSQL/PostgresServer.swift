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

    package init(url: String, schema: String = "data_gateway") {
        self.url = url
        self.schema = schema
    }

    /// The longest time in which writes are added to a transaction.
    package var batchTime = Duration.milliseconds(50)
    /// The time between two looks for a later timeline, and the longest wait for an answer to one.
    package var timelineInterval = Duration.seconds(2)
    /// The timelines that connections to the server have seen.
    let timelines = Timelines()
    /// The messages of sessions for whose answers the program has waited.
    let roundTrips = RoundTrips()

    /// The first half of the keys of advisory locks. With 0 as the second half it is the writer's lock.
    var lockKey: Int32 {
        // FNV-1a: all programs with this schema have to use the same key.
        var hash: UInt32 = 2_166_136_261
        for byte in "data-gateway \(schema)".utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int32(bitPattern: hash)
    }

    var quotedSchema: String { "\"" + schema.replacing(bytes: ["\"": "\"\""]) + "\"" }

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
        return parameters
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
