import Foundation
import Platform
import Testing

@testable import Database

/// What happens when the disk fails under the write-ahead log: its descriptors are replaced by ones that fail.
@Suite struct DiskFaultTests {
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

    /// Runs `body` while every write to the log goes to `substitute`.
    private func replacingLog(with substitute: Int32, _ body: () -> Void) throws {
        var originals: [(descriptor: Int32, copy: Int32)] = []
        for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init) {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            guard link == scratch.path + "/test.db-wal" else { continue }
            originals.append((descriptor, dup(descriptor)))
            dup2(substitute, descriptor)
        }
        #expect(!originals.isEmpty)
        defer {
            for (descriptor, copy) in originals {
                dup2(copy, descriptor)
                close(copy)
            }
        }
        body()
    }

    @Test func aCommitThatFailsByTheDiskEndsTheWriter() throws {
        // Reads what is there, and fails each write with EBADF.
        let readOnly = open(scratch.path + "/test.db-wal", O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        try replacingLog(with: readOnly) {
            #expect(throws: DatabaseError.writerEnded) { try insert("uncertain") }
        }
        #expect(ended.count == 1)
        #expect(!database.isWritable)
        #expect(throws: DatabaseError.writerEnded) { try insert("refused") }
        #expect(try database.notes() == ["before"])
        database.close()
        #expect(try scratch.database().notes() == ["before"])
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
