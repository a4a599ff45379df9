import DatabaseTesting
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// The messages that transactions send to a server; the program waits for the answer of each but the last of a read.
@Suite(.timeLimited, .onPostgres) struct RoundTripTests {
    private let scratch: Scratch
    private let proxy: ServerProxy
    private let database: Database

    init() throws {
        scratch = try Scratch()
        proxy = try ServerProxy(in: scratch.path)
        var server = scratch.server(through: proxy)
        server.readers = 1
        server.batchTime = .seconds(600)
        database = try scratch.database(on: server)
    }

    /// Returns the number of messages that `body` sends.
    private func messages(_ body: () throws -> Void) throws -> Int {
        try body()
        // The answer shows that the proxy has received all messages before.
        _ = try database.notes()
        let before = proxy.messageCount
        try body()
        _ = try database.notes()
        // Without the message of the last read. Its COMMIT may be counted or not, as that of the read before.
        return proxy.messageCount - before - 2
    }

    @Test func readOfOneStatementIsTwoMessages() throws {
        let count = try messages { for _ in 0..<10 { _ = try database.notes() } }
        #expect((19...21).contains(count))
    }

    @Test func readWithoutAStatementIsNoMessage() throws {
        let count = try messages { for _ in 0..<10 { try database.readBlocking { _ in } } }
        #expect((-1...1).contains(count))
    }

    @Test func statementsTogetherAreOneMessage() throws {
        let count = try messages {
            for _ in 0..<10 {
                try database.readBlocking { connection in
                    func find(_ body: String) throws -> Bool {
                        try connection.hasRow("SELECT 1 FROM notes WHERE body = $1", body)
                    }
                    try connection.together { for body in ["a", "b", "c"] { _ = try find(body) } }
                    for body in ["a", "b", "c"] { _ = try find(body) }
                }
            }
        }
        #expect((19...21).contains(count))
    }

    /// BEGIN with the lock, and the statements with COMMIT.
    @Test func writeOfStatementsExecutedSoonIsTwoMessages() throws {
        let count = try messages {
            for _ in 0..<10 {
                try database.writeBlocking { connection in
                    for body in ["a", "b", "c"] {
                        try connection.executeSoon("DELETE FROM notes WHERE body = $1", body)
                    }
                }
            }
        }
        #expect((19...21).contains(count))
    }

    /// BEGIN with the lock, a message for each statement, and COMMIT; `holdWriter` is a batch of its own.
    @Test func savepointsOfABatchAreSentWithItsStatements() throws {
        let count = try messages {
            let release = try database.holdWriter()
            let replies = Replies()
            for index in 0..<10 {
                database.submit(
                    { connection in
                        try connection.execute("INSERT INTO notes (body) VALUES ($1)", "\(index)")
                        return try connection.execute("DELETE FROM notes")
                    }, reply: replies.record("\(index)"))
            }
            release()
            #expect(try replies.wait(for: 10).allSatisfy { $0.hasSuffix("ok") })
        }
        #expect((23...25).contains(count))
    }
}
