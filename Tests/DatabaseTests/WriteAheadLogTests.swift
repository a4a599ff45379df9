import Basics
import DatabaseTesting
import Foundation
import TestSupport
import Testing

@testable import Database

/// Recovery of the log after an unclean shutdown.
@Suite(.timeLimited, .onSQLite) struct WriteAheadLogTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private var log: String { scratch.path + "/test.db-wal" }

    /// Leaves the files of a process that was killed after a commit.
    private func endUncleanly() throws {
        let killed = try Scratch()
        let database = try killed.database()
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('kept')") }
        for name in ["test.db", "test.db-wal"] {
            try FileManager.default.copyItem(atPath: "\(killed.path)/\(name)", toPath: "\(scratch.path)/\(name)")
        }
        database.close()
    }

    private func length(_ path: String) throws -> UInt64? {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64
    }

    @Test func uncleanEndIsMovedIntoTheFileBeforeAnythingElse() throws {
        try endUncleanly()
        #expect(try length(log) != 0)
        let database = try scratch.database()
        #expect(try length(log) == 0)
        #expect(try database.notes() == ["kept"])
        // The file alone contains it.
        let moved = try Scratch()
        try FileManager.default.copyItem(atPath: scratch.path + "/test.db", toPath: moved.path + "/test.db")
        #expect(try moved.database().notes() == ["kept"])
        database.close()
    }

    @Test func logIsWrittenAgainInPlace() throws {
        try endUncleanly()
        let bytes = try Data(contentsOf: URL(filePath: log))
        let before = try #require(
            FileManager.default.attributesOfItem(atPath: log)[.systemFileNumber] as? UInt64)
        #expect(try WriteAheadLog(of: scratch.path + "/test.db").makeDurable())
        #expect(try Data(contentsOf: URL(filePath: log)) == bytes)
        let after = try FileManager.default.attributesOfItem(atPath: log)[.systemFileNumber] as? UInt64
        #expect(after == before)
    }

    @Test func logThatCannotBeMadeDurableRefusesTheStart() throws {
        try endUncleanly()
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
        let error = #expect(throws: DatabaseError.self) { try scratch.database() }
        #expect("\(try #require(error))".contains("cannot open the database's write-ahead log"))
    }

    @Test func fileThatAnotherProcessReadsRefusesTheStart() throws {
        try endUncleanly()
        let reader = ReadConnection(try SQLiteSession(path: scratch.path + "/test.db", mode: .reader))
        try reader.session.control("BEGIN")
        #expect(try reader.first("SELECT count(*) FROM notes") { $0.int(0) } == 1)
        #expect(throws: DatabaseError.locked) { try scratch.database() }
        try reader.session.control("COMMIT")
        #expect(try scratch.database().notes() == ["kept"])
    }

    @Test func cleanEndLeavesNothingToRecover() throws {
        let database = try scratch.database()
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('kept')") }
        database.close()
        #expect(try !WriteAheadLog(of: scratch.path + "/test.db").makeDurable())
    }
}
