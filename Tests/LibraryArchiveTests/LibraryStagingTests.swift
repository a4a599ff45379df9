import AppProto
import AppSupport
import Basics
import Database
import GatewayTesting
import Identity
import Members
import TestSupport
import Testing

@testable import LibraryArchive

/// The transactions of imports.
@Suite(.timeLimited) struct LibraryStagingTests {
    private static let time = "2019-06-09T14:51:29.574Z"

    private let world: TestAccounts
    private let owner: Int64

    init() async throws {
        let world = try await TestAccounts(migrations: Identity.migrations + LibraryArchiveApp.migrations)
        self.world = world
        owner = try await world.database.write { connection in
            try connection.first("SELECT id FROM users") { $0.int64("id") } ?? 0
        }
    }

    private static func id(_ number: Int) -> String { "00000000-0000-0000-0000-\(number.padded(to: 12))" }

    private static func digest(_ number: Int, _ content: String = "句") -> PlainDigest {
        PlainDigest(id: id(number), createdAt: time, updatedAt: time, content: content)
    }

    private static func contents(_ count: Int) -> LibraryContents {
        var contents = LibraryContents()
        contents.digests = (0..<count).map { digest($0) }
        contents.tags = [
            PlainTag(
                id: id(1_000_000), name: "词", createdAt: time, updatedAt: time, digestIDs: (0..<count).map { id($0) })
        ]
        contents.books = [
            PlainBook(
                id: id(2_000_000), createdAt: time, updatedAt: time, name: "书", digestIDs: (0..<count).map { id($0) })
        ]
        return contents
    }

    /// The numbers of rows that transactions changed.
    private final class Sizes: Sendable {
        let all = Lock<[Int]>([])
    }

    /// An import whose transactions note the number of rows that they have changed, and fail when `failing` says so.
    private func staging(
        _ sizes: Sizes, failing: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) -> LibraryStaging {
        LibraryStaging(database: world.database) { [database = world.database] frees, body in
            let number = sizes.all.withLock { $0.count }
            let changed = try await database.write(mayUseReserve: frees) { connection in
                func total() throws -> Int { try connection.first("SELECT total_changes()") { $0.int(0) } ?? 0 }
                let before = try total()
                try body(connection)
                if failing(number) { throw DatabaseError.full }
                return try total() - before
            }
            sizes.all.withLock { $0.append(changed) }
        }
    }

    private func add(_ contents: LibraryContents, _ staging: LibraryStaging) async throws {
        try await staging.add(contents, LibraryRelations(contents), toLibraryOf: owner)
    }

    private func stored() async throws -> LibraryContents {
        let owner = owner
        return try await world.database.readInBackground {
            try LibraryGenerations($0).records(of: owner)?.contents() ?? LibraryContents()
        }
    }

    private func count(_ table: String) async throws -> Int {
        try await world.database.read { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? -1 }
    }

    @Test func transactionsHaveFewRows() async throws {
        let sizes = Sizes()
        for _ in 0..<2 { try await add(Self.contents(2100), staging(sizes)) }
        let found = sizes.all.withLock { $0 }
        #expect(found.allSatisfy { $0 <= RowBatches.rows }, "\(found.max() ?? 0)")
        #expect(found.reduce(0, +) > 4 * 2100)
        let library = try await stored()
        #expect(library.digests.count == 2100 && library.tags.first?.digestIDs.count == 2100)
        #expect(library.books.first?.digestIDs.count == 2100)
        #expect(try await count("libraries") == 1)
        #expect(try await count("library_digests") == 2100)
    }

    @Test func largeTextsHaveTransactionsOfTheirOwn() {
        #expect(RowBatches.ranges(of: [0, 0, 0], size: { $0 }) == [0..<3])
        #expect(RowBatches.ranges(of: [RowBatches.bytes, 1, 1], size: { $0 }) == [0..<1, 1..<3])
        #expect(RowBatches.ranges(of: [2 * RowBatches.bytes, 2 * RowBatches.bytes], size: { $0 }) == [0..<1, 1..<2])
        let many = RowBatches.ranges(of: Array(repeating: 0, count: 1201), size: { $0 })
        #expect(many == [0..<500, 500..<1000, 1000..<1201])
        #expect(RowBatches.ranges(of: [Int](), size: { $0 }).isEmpty)
    }

    @Test func failureOfAnyTransactionChangesNothing() async throws {
        try await add(Self.contents(700), staging(Sizes()))
        let before = try await stored()
        let sizes = Sizes()
        var second = Self.contents(600)
        second.digests = second.digests.map { Self.digest(Int($0.id.suffix(6)) ?? 0, "another") }
        second.tags[0].digestIDs = [Self.id(1)]
        var fails = 0
        while true {
            sizes.all.withLock { $0 = [] }
            do {
                try await add(second, staging(sizes) { [fails] in $0 == fails })
                break
            } catch DatabaseError.full {
                let after = try await stored()
                #expect(after.digests == before.digests && after.tags == before.tags && after.books == before.books)
            }
            fails += 1
        }
        #expect(fails > 8)
        let after = try await stored()
        #expect(after.digests.filter { $0.content == "another" }.count == 600 && after.digests.count == 700)
        #expect(after.tags.first?.digestIDs == [Self.id(1)] && after.books.first?.digestIDs.count == 600)
        let staging = LibraryStaging(database: world.database)
        _ = try await LibrarySweep(staging: staging, tasks: LibraryTasks()).removeLeft()
        #expect(try await count("libraries") == 1)
        #expect(try await count("library_digests") == 700)
    }

    @Test func sweepRemovesWhatAProcessLeftAndNothingElse() async throws {
        try await add(Self.contents(3), staging(Sizes()))
        let owner = owner
        try await world.database.write { connection in
            let library = try LibraryGenerations(connection).insert(for: owner)
            for number in 0..<1100 {
                try LibraryRecords(connection, library: library).store(Self.digest(number))
            }
        }
        let (staging, tasks) = (LibraryStaging(database: world.database), LibraryTasks())
        let sweep = LibrarySweep(staging: staging, tasks: tasks)
        // The import that makes it is in progress.
        let removed = try await tasks.run(.importing, of: owner) { try await sweep.removeLeft() }
        #expect(removed == 0)
        #expect(try await count("library_digests") == 1103)
        #expect(try await sweep.removeLeft() == 1)
        #expect(try await count("libraries") == 1)
        #expect(try await count("library_digests") == 3)
        #expect(try await sweep.removeLeft() == 0)
    }
}
