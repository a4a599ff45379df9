import Basics
import DatabaseTesting
import Dispatch
import TestSupport
import Testing

@testable import Database

/// Connections outside of the database's pool that read for long, as programs of operators do.
@Suite(.timeLimited, .onSQLite) struct ForeignReaderTests {
    let scratch: Scratch
    let changes: AsyncStream<LogChange>
    let changed: AsyncStream<LogChange>.Continuation

    init() throws {
        scratch = try Scratch()
        (changes, changed) = AsyncStream.makeStream()
    }

    private func database() throws -> Database {
        var options = Database.Options()
        options.checkpointPages = 4
        options.blockedLogRetry = .milliseconds(10)
        options.onLogChange = { [changed] in changed.yield($0) }
        return try scratch.database(options: options)
    }

    private func write(_ count: Int, to database: Database) async throws {
        for index in 0..<count {
            try await database.write { connection in
                _ = try connection.execute(
                    "INSERT INTO notes (body) VALUES ($1)", "\(index) \(connection.session.file?.loggedPages ?? 0)")
            }
        }
    }

    /// Opens a snapshot that no write moves any more.
    private func foreignReader() throws -> ReadConnection {
        let reader = ReadConnection(try SQLiteSession(path: scratch.path + "/test.db", mode: .reader))
        try reader.session.control("BEGIN")
        _ = try reader.first("SELECT count(*) FROM notes") { $0.int(0) }
        return reader
    }

    @Test func aForeignReaderIsReportedUntilItEnds() async throws {
        let database = try database()
        try await write(1, to: database)
        let reader = try foreignReader()
        try await write(40, to: database)
        var reports = changes.makeAsyncIterator()
        guard case .blocked(let bytes) = await reports.next() else { throw NotReported() }
        // The report may come by time, before the log has grown to the limit.
        #expect(bytes > 0)
        #expect(try #require(database.logBytes) >= bytes)
        #expect(database.logBlockage?.holder == .other)
        // Its end is noticed without another write.
        try reader.session.control("COMMIT")
        guard case .released = await reports.next() else { throw NotReported() }
        #expect(database.logBlockage == nil)
        database.close()
    }

    @Test func aReadOfTheGatewayIsToldApart() async throws {
        let database = try database()
        try await write(1, to: database)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        async let read: Void = database.readInBackground { connection in
            _ = try connection.first("SELECT count(*) FROM notes") { $0.int(0) }
            begin.yield()
            try mayEnd.waitForSignal()
        }
        for await _ in begun.prefix(1) {}
        try await write(40, to: database)
        #expect(database.logBlockage?.holder == .gateway)
        mayEnd.signal()
        try await read
        database.close()
        changed.finish()
        for await change in changes { Issue.record("\(change) is reported") }
    }

    private struct NotReported: Error {}
}
