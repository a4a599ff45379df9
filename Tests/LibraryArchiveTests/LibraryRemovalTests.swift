import AppProto
import Basics
import Database
import DatabaseTesting
import GatewayTesting
import Synchronization
import TestSupport
import Testing

@testable import LibraryArchive

/// The removal of the libraries of accounts that were deleted.
@Suite(.timeLimited) struct LibraryRemovalTests {
    private let scene: LibraryScene

    init() async throws {
        scene = try await LibraryScene()
    }

    private func sweep(
        _ sizes: LibraryScene.Sizes = LibraryScene.Sizes(), batches: Int = 1000,
        failing: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) -> LibrarySweep {
        LibrarySweep(
            staging: scene.staging(sizes, failing: failing), tasks: LibraryTasks(scene.world.database.leases),
            batches: batches)
    }

    /// - Returns: the number of changed rows.
    @discardableResult
    private func deleteAccount() async throws -> Int {
        try await scene.world.database.write { [scene] connection in
            try connection.countingChanges { try scene.deleteAccount(scene.owner, in: connection) }
        }
    }

    @Test func deletionOfAnAccountChangesFewRowsAndHidesTheLibrary() async throws {
        try await scene.add(LibraryScene.contents(1200), scene.staging(LibraryScene.Sizes()))
        let rows = try await scene.countRows()
        #expect(try await deleteAccount() < 10)
        #expect(try await scene.countRows() == rows)
        #expect(try await scene.stored().digests.isEmpty)
        // The same person once more is another user.
        let again = try await scene.member("ada")
        #expect(again != scene.owner)
        #expect(try await scene.stored(of: again).digests.isEmpty)
        let sizes = LibraryScene.Sizes()
        #expect(try await sweep(sizes).removeLeft() == 1)
        #expect(try await scene.countRows() == 0)
        let found = sizes.all.withLock { $0 }
        #expect(found.allSatisfy { $0 <= RowBatches.rows }, "\(found)")
        #expect(found.reduce(0, +) == rows)
        #expect(try await sweep().removeLeft() == 0)
    }

    @Test func removalContinuesAfterAFailureBetweenAnyTwoSteps() async throws {
        let other = try await scene.member("bob")
        for owner in [scene.owner, other] {
            try await scene.add(LibraryScene.contents(1200), scene.staging(LibraryScene.Sizes()), of: owner)
        }
        let (before, rows) = (try await scene.stored(of: other), try await scene.countRows())
        try await deleteAccount()
        let again = try await scene.member("ada")
        var steps: [Int] = []
        while true {
            do {
                #expect(try await sweep { $0 == 1 }.removeLeft() == 1)
                break
            } catch DatabaseError.full {
                steps.append(try await scene.countRows())
                #expect(try await scene.stored(of: again).digests.isEmpty)
                let after = try await scene.stored(of: other)
                #expect(after.digests == before.digests && after.tags == before.tags && after.books == before.books)
            }
        }
        #expect(steps.count > 6 && zip(steps, steps.dropFirst()).allSatisfy { $0 > $1 }, "\(steps)")
        #expect(try await scene.countRows() == rows / 2)
    }

    @Test func oneRoundHasALimitedNumberOfTransactions() async throws {
        try await scene.add(LibraryScene.contents(1200), scene.staging(LibraryScene.Sizes()))
        try await deleteAccount()
        let sizes = LibraryScene.Sizes()
        #expect(try await sweep(sizes, batches: 2).removeLeft() == 0)
        #expect(sizes.all.withLock { $0.count } == 2)
        #expect(try await sweep().removeLeft() == 1)
        #expect(try await scene.countRows() == 0)
    }

    @Test func largeTextsAreRemovedInTransactionsOfTheirOwn() async throws {
        var contents = LibraryContents()
        let text = String(repeating: "x", count: RowBatches.bytes / 2)
        contents.digests = (0..<4).map { LibraryScene.digest($0, text) }
        try await scene.add(contents, scene.staging(LibraryScene.Sizes()))
        try await deleteAccount()
        let sizes = LibraryScene.Sizes()
        #expect(try await sweep(sizes).removeLeft() == 1)
        #expect(sizes.all.withLock { $0 } == [1, 1, 1, 1, 1])
    }

    @Test func accountThatIsDeletedDuringAnImportGetsNoLibrary() async throws {
        try await scene.add(LibraryScene.contents(600), scene.staging(LibraryScene.Sizes()))
        let transactions = Lock(0)
        let staging = LibraryStaging(database: scene.world.database) { [scene] frees, body in
            let isThird = transactions.withLock { number in
                number += 1
                return number == 3
            }
            try await scene.world.database.write(mayUseReserve: frees) { connection in
                if isThird { try scene.deleteAccount(scene.owner, in: connection) }
                try body(connection)
            }
        }
        await #expect(throws: ArchiveFailure.self) { try await scene.add(LibraryScene.contents(700), staging) }
        #expect(try await scene.stored().digests.isEmpty)
        #expect(transactions.withLock { $0 } > 3)
        _ = try await sweep().removeLeft()
        #expect(try await scene.countRows() == 0)
    }
}
