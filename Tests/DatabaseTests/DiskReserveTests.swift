import Basics
import DatabaseTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Database

/// Records whether the reserve is set aside, at each change.
final class Changes: Sendable {
    private let values = Lock<[Bool]>([])

    var all: [Bool] { values.withLock { $0 } }

    func note(_ isHeld: Bool) { values.withLock { $0.append(isHeld) } }
}

/// The reserve file, and the writes that are accepted while it is released. Acceptance tests cover real full disks.
@Suite(.timeLimited, .onSQLite) struct DiskReserveTests {
    let scratch: Scratch
    let changes = Changes()

    init() throws {
        scratch = try Scratch()
    }

    private var path: String { scratch.path + "/reserve" }

    private func reserve(size: Int64 = 1 << 20, margin: Int64 = 0) -> DiskReserve {
        DiskReserve(path: path, size: size, margin: margin) { [changes] in changes.note($0) }
    }

    private func status() throws -> (size: Int64, allocated: Int64) {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }

    @Test func isReallyAllocated() throws {
        let held = reserve()
        #expect(!held.isReleased)
        #expect(try status().size == 1 << 20)
        #expect(try status().allocated >= 1 << 20)
    }

    @Test func isReleasedOnceAndSetAsideAgain() throws {
        let reserve = reserve()
        #expect(reserve.release())
        #expect(try status().allocated == 0)
        #expect(!reserve.release())
        // The disk of the test has free space.
        #expect(reserve.admitsOrdinaryWrites())
        #expect(try status().allocated >= 1 << 20)
        #expect(changes.all == [false, true])
    }

    @Test func staysReleasedAcrossProcessesWithoutTheSpace() throws {
        #expect(reserve().release())
        let next = reserve(margin: .max / 4)
        #expect(next.isReleased)
        #expect(!next.admitsOrdinaryWrites())
        #expect(!next.release())
    }

    @Test func neverSetAsideRefusesNothing() throws {
        let absent = reserve(margin: .max / 4)
        #expect(absent.admitsOrdinaryWrites())
        #expect(!absent.release())
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aSizeOfZeroRemovesTheFile() throws {
        _ = reserve()
        #expect(reserve(size: 0).admitsOrdinaryWrites())
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func anotherSizeIsSetAsideAnew() throws {
        _ = reserve()
        #expect(!reserve(size: 2 << 20).isReleased)
        #expect(try status().size == 2 << 20)
    }

    @Test func onlyWritesThatMayUseItAreTakenWhileItIsReleased() throws {
        var options = Database.Options()
        options.reserveBytes = 1 << 20
        try scratch.database(options: options).close()
        #expect(reserve().release())
        options.reserveMargin = .max / 4
        let database = try scratch.database(options: options)
        let insert = { @Sendable (body: String) in
            { @Sendable (connection: Connection) in
                try connection.execute("INSERT INTO notes (body) VALUES ($1)", body)
            }
        }
        let replies = Replies()
        database.submit(insert("ordinary"), reply: replies.record("ordinary"))
        database.submit(mayUseReserve: true, insert("deletion"), reply: replies.record("deletion"))
        #expect(try Set(replies.wait(for: 2)) == ["ordinary: the disk is full", "deletion: ok"])
        #expect(try database.notes() == ["deletion"])
        #expect(database.isReserveReleased)
    }

    @Test func aWriteThatFindsThePageLimitReachedReleasesIt() throws {
        var options = Database.Options()
        options.reserveBytes = 1 << 20
        options.onReserveChange = { [changes] in changes.note($0) }
        let database = try scratch.database(options: options)
        // SQLite reports SQLITE_FULL for its own limit as well as for the disk's.
        try database.writeBlocking { _ = try $0.first("PRAGMA max_page_count = 1", row: { $0.int64(0) }) }
        let filling = String(repeating: "x", count: 900)
        #expect(throws: DatabaseError.full) {
            try database.writeBlocking(mayUseReserve: true) {
                for number in 0..<1000 {
                    try $0.execute(
                        "INSERT INTO notes (body) VALUES ($1)", "\(number)" + filling)
                }
            }
        }
        // Released for the second attempt, and set aside again because the disk itself has free space.
        #expect(changes.all.first == false)
        #expect(!database.isReserveReleased)
    }
}
