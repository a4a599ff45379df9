import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// A server that is a former primary, after another one has begun a later timeline.
@Suite(.timeLimited, .onPostgres) struct TimelineTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func laterTimelineEndsReadsAndWrites() throws {
        var server = scratch.server
        server.reconnectTimeout = .milliseconds(10)
        let database = try scratch.database(on: server)
        _ = try database.writeBlocking { try $0.execute("INSERT INTO notes (body) VALUES ('before')") }
        #expect(try database.notes() == ["before"])
        // The read that runs meanwhile has old rows.
        #expect(throws: Timelines.formerPrimary) {
            try database.readBlocking { connection in
                _ = try connection.hasRow("SELECT 1 FROM notes")
                _ = server.timelines.note(.max)
            }
        }
        #expect(throws: Timelines.formerPrimary) { try database.notes() }
        #expect(throws: Timelines.formerPrimary) {
            try database.writeBlocking { try $0.execute("INSERT INTO notes (body) VALUES ('after')") }
        }
        #expect(throws: Timelines.formerPrimary) { try PostgresSession(server, .reader) }
        #expect(try scratch.database().notes() == ["before"])
    }

    @Test func commitOnAFormerPrimaryIsInDoubt() throws {
        var server = scratch.server
        server.reconnectTimeout = .milliseconds(10)
        let timelines = server.timelines
        let database = try scratch.database(on: server)
        #expect(throws: DatabaseError.outcomeUnknown) {
            try database.writeBlocking { connection in
                try connection.execute("INSERT INTO notes (body) VALUES ('lost')")
                _ = timelines.note(.max)
            }
        }
    }

    @Test func statementOnAFormerPrimaryIsGivenUp() throws {
        var server = scratch.server
        server.reconnectTimeout = .milliseconds(10)
        let timelines = server.timelines
        let database = try scratch.database(on: server)
        #expect(throws: Timelines.formerPrimary) {
            try database.writeBlocking { connection in
                _ = timelines.note(.max)
                try connection.execute("INSERT INTO notes (body) VALUES ('lost')")
            }
        }
        #expect(try scratch.database().notes().isEmpty)
    }

    @Test func timelineOfEachHostIsWatched() throws {
        var server = scratch.server
        server.timelineInterval = .milliseconds(10)
        let watch = try TimelineWatch(server)
        defer { watch.close() }
        try waitUntil { !server.timelines.isLatest(0) }
    }
}
