import AppProto
import AppSupport
import Basics
import Database
import DatabaseTesting
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import LibraryArchive

/// The transactions of imports.
@Suite(.timeLimited) struct LibraryStagingTests {
    private let scene: LibraryScene

    init() async throws {
        scene = try await LibraryScene()
    }

    @Test func transactionsHaveFewRows() async throws {
        let sizes = LibraryScene.Sizes()
        for _ in 0..<2 { try await scene.add(LibraryScene.contents(2100), scene.staging(sizes)) }
        let found = sizes.all.withLock { $0 }
        #expect(found.allSatisfy { $0 <= RowBatches.rows }, "\(found.max() ?? 0)")
        #expect(found.reduce(0, +) > 4 * 2100)
        let library = try await scene.stored()
        #expect(library.digests.count == 2100 && library.tags.first?.digestIDs.count == 2100)
        #expect(library.books.first?.digestIDs.count == 2100)
        #expect(try await scene.count("libraries") == 1)
        #expect(try await scene.count("library_digests") == 2100)
    }

    @Test func largeTextsHaveTransactionsOfTheirOwn() {
        #expect(RowBatches.ranges(of: [0, 0, 0], size: { $0 }) == [0..<3])
        #expect(RowBatches.ranges(of: [RowBatches.bytes, 1, 1], size: { $0 }) == [0..<1, 1..<3])
        #expect(RowBatches.ranges(of: [2 * RowBatches.bytes, 2 * RowBatches.bytes], size: { $0 }) == [0..<1, 1..<2])
        let many = RowBatches.ranges(of: Array(repeating: 0, count: 1201), size: { $0 })
        #expect(many == [0..<500, 500..<1000, 1000..<1201])
        #expect(RowBatches.ranges(of: [Int](), size: { $0 }).isEmpty)
    }

    /// PostgreSQL has no such text, and requests with it are refused.
    @Test(.onSQLite) func repeatedTextsCountInBytesAlsoAfterAZero() async throws {
        let text = "\0" + String(repeating: "x", count: LibraryLimits.shortText - 1)
        var contents = LibraryScene.contents(Int(LibraryLimits.repeatedTexts) / (2 * text.utf8.count))
        (contents.books[0].isbn13, contents.books[0].isbn10) = (text, text)
        let sent = contents
        await #expect(throws: ArchiveFailure.self) {
            try await scene.add(sent, scene.staging(LibraryScene.Sizes()))
        }
        #expect(try await scene.stored().digests.isEmpty)
    }

    @Test func failureOfAnyTransactionChangesNothing() async throws {
        try await scene.add(LibraryScene.contents(700), scene.staging(LibraryScene.Sizes()))
        let before = try await scene.stored()
        let sizes = LibraryScene.Sizes()
        var second = LibraryScene.contents(600)
        second.digests = second.digests.map { LibraryScene.digest(Int($0.id.suffix(6)) ?? 0, "another") }
        second.tags[0].digestIDs = [LibraryScene.id(1)]
        var fails = 0
        while true {
            sizes.all.withLock { $0 = [] }
            do {
                try await scene.add(second, scene.staging(sizes) { [fails] in $0 == fails })
                break
            } catch DatabaseError.full {
                let after = try await scene.stored()
                #expect(after.digests == before.digests && after.tags == before.tags && after.books == before.books)
            }
            fails += 1
        }
        #expect(fails > 8)
        let after = try await scene.stored()
        #expect(after.digests.filter { $0.content == "another" }.count == 600 && after.digests.count == 700)
        #expect(after.tags.first?.digestIDs == [LibraryScene.id(1)] && after.books.first?.digestIDs.count == 600)
        let staging = LibraryStaging(database: scene.world.database)
        _ = try await LibrarySweep(staging: staging, tasks: LibraryTasks(scene.world.database.leases)).removeLeft()
        #expect(try await scene.count("libraries") == 1)
        #expect(try await scene.count("library_digests") == 700)
    }

    @Test func sweepRemovesWhatAProcessLeftAndNothingElse() async throws {
        try await scene.add(LibraryScene.contents(3), scene.staging(LibraryScene.Sizes()))
        let owner = scene.owner
        try await scene.world.database.write { connection in
            let library = try LibraryGenerations(connection).insert(for: owner)
            for number in 0..<1100 {
                try LibraryRecords(connection, library: library).store(LibraryScene.digest(number))
            }
        }
        let (staging, tasks) = (
            LibraryStaging(database: scene.world.database), LibraryTasks(scene.world.database.leases)
        )
        let sweep = LibrarySweep(staging: staging, tasks: tasks)
        // The import that makes it is in progress.
        let removed = try await tasks.run(.importing, of: owner) { _ in try await sweep.removeLeft() }
        #expect(removed == 0)
        #expect(try await scene.count("library_digests") == 1103)
        #expect(try await sweep.removeLeft() == 1)
        #expect(try await scene.count("libraries") == 1)
        #expect(try await scene.count("library_digests") == 3)
        #expect(try await sweep.removeLeft() == 0)
    }
}
