import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import TestSupport
import Testing

@testable import Database

private let failoverFolder = ProcessInfo.processInfo.environment["LAB_FAILOVER"]

/// The program that `scripts/sql failover` runs while it ends, stops and promotes servers.
///
/// `LAB_FAILOVER` is a folder, in whose file `log` it writes what callers were answered, until there is a file `stop`.
@Suite(.timeLimited, .onPostgres, .enabled(if: failoverFolder != nil)) struct FailoverTests {
    private static let bodies = Migration(
        name: "bodies-1", sql: "CREATE TABLE bodies (body TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;")

    private final class Log: Sendable {
        private let file: Int32

        init(_ path: String) {
            file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        }

        func write(_ line: String) {
            let line = "\(Int64(Date().timeIntervalSince1970 * 1e6)) \(line)\n"
            _ = line.withCString { Foundation.write(file, $0, strlen($0)) }
        }
    }

    @Test func callersAreAnswered() async throws {
        let folder = try #require(failoverFolder)
        let log = Log(folder + "/log")
        var server = PostgresServer(
            url: DatabaseEngine.url + " options='-c synchronous_commit=on'", schema: "failover")
        server.readers = 4
        let database = try Database(
            server: server, baseline: "",
            migrations: [
                Migration(name: "bodies-1", sql: "", postgres: DatabaseEngine.translated(Self.bodies.sql))
            ])
        let isEnded = { @Sendable in FileManager.default.fileExists(atPath: folder + "/stop") }
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<8 {
                group.addTask {
                    var number = 0
                    while !isEnded() {
                        number += 1
                        let body = "\(caller)-\(number)"
                        do {
                            _ = try await database.write {
                                try $0.execute("INSERT INTO bodies (body, at) VALUES ($1, 0)", body)
                            }
                            log.write("written \(body)")
                        } catch {
                            log.write("refused \(body) \(error)")
                        }
                    }
                }
                group.addTask {
                    while !isEnded() {
                        do {
                            let timeline = try await database.read { connection in
                                try connection.first("SELECT \(Timelines.query) AS timeline") { $0.int64("timeline") }
                            }
                            log.write("read \(timeline ?? 0)")
                        } catch {
                            log.write("unread \(error)")
                            await Task.yield()
                        }
                    }
                }
            }
        }
        database.close()
    }
}
