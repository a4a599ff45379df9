import Basics
import DatabaseTesting
import Foundation
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import Database

/// The behavior when the disk of the write-ahead log fails: its descriptors are replaced by failing ones.
@Suite(.timeLimited, .onSQLite) struct DiskFaultTests {
    let scratch: Scratch
    let database: Database
    let ended: Ended

    init() throws {
        let ended = Ended()
        var options = Database.Options()
        options.onWriterEnded = { ended.note($0) }
        scratch = try Scratch()
        database = try scratch.database(options: options)
        self.ended = ended
        try insert("before")
    }

    private func insert(_ body: String) throws {
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }
    }

    /// Runs `body` while descriptors of the file at `path` are replaced by `substitute`.
    static func replacing(_ path: String, with substitute: Int32, _ body: () -> Void) throws {
        var originals: [(descriptor: Int32, copy: Int32)] = []
        func isOpen(_ descriptor: Int32) -> Bool {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == path
        }
        for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        where isOpen(descriptor) {
            originals.append((descriptor, dup(descriptor)))
            dup2(substitute, descriptor)
        }
        #expect(!originals.isEmpty)
        defer {
            for (descriptor, copy) in originals {
                // A writer that ended has closed its descriptors, and another test may have opened a file under the number.
                if isOpen(descriptor) { dup2(copy, descriptor) }
                close(copy)
            }
        }
        body()
    }

    @Test func onlyWritesThatMayBeOnDiskAreInDoubt() throws {
        let scratch = try Scratch()
        var options = Database.Options()
        options.batchedWrites = 2
        let database = try scratch.database(options: options)
        let release = try database.holdWriter()
        let replies = Replies()
        for body in ["first", "second", "waits"] {
            database.submit(
                { try $0.execute("INSERT INTO notes (body) VALUES ($1)", body) }, reply: replies.record(body))
        }
        let readOnly = open(scratch.path + "/test.db-wal", O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        var outcomes: [String] = []
        try Self.replacing(scratch.path + "/test.db-wal", with: readOnly) {
            release()
            outcomes = (try? replies.wait(for: 3)) ?? []
        }
        let (inDoubt, refused) = (DatabaseError.outcomeUnknown, DatabaseError.writerEnded)
        #expect(outcomes == ["first: \(inDoubt)", "second: \(inDoubt)", "waits: \(refused)"])
    }

    @Test func aCommitThatFailsByTheDiskEndsTheWriter() throws {
        // Can be read, and fails each write with EBADF.
        let readOnly = open(scratch.path + "/test.db-wal", O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        try Self.replacing(scratch.path + "/test.db-wal", with: readOnly) {
            #expect(throws: DatabaseError.outcomeUnknown) { try insert("uncertain") }
        }
        #expect(ended.count == 1)
        #expect(!database.isWritable)
        #expect(throws: DatabaseError.writerEnded) { try insert("refused") }
        #expect(try database.notes() == ["before"])
        database.close()
        // It is unknown how much of the log is on the disk, so the next start decides, and there was no checkpoint.
        let log = try FileManager.default.attributesOfItem(atPath: scratch.path + "/test.db-wal")
        #expect(log[.size] as? UInt64 != 0)
        #expect(try scratch.database().notes() == ["before"])
    }
}

/// Contention with another process, and transactions that cannot be ended.
@Suite(.timeLimited, .onSQLite) struct ContentionTests {
    @Test func everyWriteOfABatchIsRefusedAtOnceWhileAnotherProcessHoldsTheFile() throws {
        let scratch = try Scratch()
        let database = try scratch.database()
        let replies = Replies()
        let release = try database.holdWriter()
        for name in ["a", "b", "c"] {
            database.submit(
                { try $0.execute("INSERT INTO notes (body) VALUES ($1)", name) }, reply: replies.record(name))
        }
        release()
        #expect(try replies.wait(for: 3).sorted() == ["a: ok", "b: ok", "c: ok"])
        let other = Connection(try SQLiteSession(path: scratch.path + "/test.db", mode: .writer))
        other.session.file?.keepLogOnClose()
        try other.execute("BEGIN IMMEDIATE")
        for name in ["d", "e", "f"] {
            database.submit(
                { try $0.execute("INSERT INTO notes (body) VALUES ($1)", name) }, reply: replies.record(name))
        }
        let held = try replies.wait(for: 3).suffix(3).sorted()
        #expect(held == ["d", "e", "f"].map { "\($0): \(DatabaseError.locked)" })
        try other.execute("ROLLBACK")
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('g')") }
    }

    @Test func readerWhoseTransactionIsOpenIsNotUsedAgain() throws {
        let scratch = try Scratch()
        let database = try scratch.database()
        defer { database.close() }
        let pool = ReaderPool(path: scratch.path + "/test.db", capacity: 4)
        try pool.withConnection { try $0.session.control("BEGIN") }
        #expect(try pool.withConnection { $0.isInTransaction } == false)
        pool.close()
    }
}

/// Counts how often the writer ended.
final class Ended: Sendable {
    private let errors = Lock<[DatabaseError]>([])

    var count: Int { errors.withLock { $0.count } }

    func note(_ error: DatabaseError) {
        errors.withLock { $0.append(error) }
    }
}
